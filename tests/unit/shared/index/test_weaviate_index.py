"""What is sent to a node for a write, and what becomes of objects that it refuses; over real sockets."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from typing import Any

import grpc
import numpy as np
import pytest
from weaviate.proto.v1 import (
    aggregate_pb2,
    base_pb2,
    batch_delete_pb2,
    batch_pb2,
    properties_pb2,
    search_get_pb2,
    weaviate_pb2_grpc,
)

from services.shared.index.fields import FieldType
from services.shared.index.weaviate_class import GenerationClass
from services.shared.index.weaviate_cluster import Cluster, NodeClient
from services.shared.index.weaviate_index import WeaviateIndex
from services.shared.index.weaviate_node import WeaviateNode
from services.shared.index.weaviate_objects import object_id
from services.shared.runtime.errors import DependencyUnavailable, InvalidInput
from tests.contract.index.examples import a_chunk

FIELDS = {"year": FieldType.INTEGER}
Refuse = Callable[[batch_pb2.BatchObjectsRequest], Sequence[int]]


class FakeClasses:
    """One generation of 768 dimensions, whose keyword index may be built anew."""

    def __init__(self) -> None:
        self.rebuilds = 0

    async def known(self, generation_id: str) -> GenerationClass:
        return GenerationClass(768, FIELDS)

    read = known

    async def rebuild_keyword_index(self, generation_id: str) -> None:
        self.rebuilds += 1


class Node(weaviate_pb2_grpc.WeaviateServicer):  # type: ignore[misc]
    """Keeps the requests; refuses of each batch the objects at the places that `refuse` names."""

    def __init__(self) -> None:
        self.refuse: Refuse = lambda request: ()
        self.failed_deletes = 0
        self.count = 0
        self.standing: dict[str, str] = {}
        self.batches: list[batch_pb2.BatchObjectsRequest] = []
        self.deletes: list[batch_delete_pb2.BatchDeleteRequest] = []

    async def Aggregate(self, request: Any, context: Any) -> aggregate_pb2.AggregateReply:
        counted = aggregate_pb2.AggregateReply.Single(objects_count=self.count)
        return aggregate_pb2.AggregateReply(single_result=counted)

    async def Search(self, request: search_get_pb2.SearchRequest, context: Any) -> search_get_pb2.SearchReply:
        wanted = set(request.filters.value_text_array.values)
        return search_get_pb2.SearchReply(
            results=[
                standing(chunk_id, analysed)
                for chunk_id, analysed in self.standing.items()
                if object_id(chunk_id) in wanted
            ]
        )

    async def BatchObjects(self, request: batch_pb2.BatchObjectsRequest, context: Any) -> batch_pb2.BatchObjectsReply:
        self.batches.append(request)
        errors = [
            batch_pb2.BatchObjectsReply.BatchError(index=place, error="no room") for place in self.refuse(request)
        ]
        return batch_pb2.BatchObjectsReply(errors=errors)

    async def BatchDelete(
        self, request: batch_delete_pb2.BatchDeleteRequest, context: Any
    ) -> batch_delete_pb2.BatchDeleteReply:
        self.deletes.append(request)
        return batch_delete_pb2.BatchDeleteReply(matches=5, failed=self.failed_deletes, successful=5)


def standing(chunk_id: str, analysed: str) -> search_get_pb2.SearchResult:
    fields = {
        "chunk_id": properties_pb2.Value(text_value=chunk_id),
        "analysed": properties_pb2.Value(text_value=analysed),
    }
    return search_get_pb2.SearchResult(
        properties=search_get_pb2.PropertiesResult(non_ref_props=properties_pb2.Properties(fields=fields))
    )


async def answer_that_there_is_no_such_class(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """The REST side of a node that hears from its leader, for one request."""
    await reader.readuntil(b"\r\n\r\n")
    writer.write(b"HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\nconnection: close\r\n\r\n")
    await writer.drain()
    writer.close()


@pytest.fixture
async def node() -> AsyncIterator[tuple[Node, NodeClient]]:
    rest = await asyncio.start_server(answer_that_there_is_no_such_class, "127.0.0.1", 0)
    served, server = Node(), grpc.aio.server(options=[("grpc.max_receive_message_length", -1)])
    weaviate_pb2_grpc.add_WeaviateServicer_to_server(served, server)  # type: ignore[no-untyped-call]
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    client = NodeClient(WeaviateNode("127.0.0.1", rest.sockets[0].getsockname()[1], port), None)
    yield served, client
    await client.close()
    await server.stop(None)
    rest.close()


def index_on(client: NodeClient, *, copies: int = 1, classes: FakeClasses | None = None) -> WeaviateIndex:
    cluster = Cluster([client] * copies)
    return WeaviateIndex(cluster, classes or FakeClasses(), replication_factor=copies)  # type: ignore[arg-type]


def chunks(count: int, **changes: Any) -> list[Any]:
    row = np.zeros((1, 768), dtype=np.float32)
    row[0, 0] = 1
    return [a_chunk(f"c{number:04d}", **{"vectors": row, **changes}) for number in range(count)]


def objects(batch: batch_pb2.BatchObjectsRequest) -> list[str]:
    return [one.uuid for one in batch.objects]


async def test_refused_object_is_sent_once_more_and_no_other(node: tuple[Node, NodeClient]) -> None:
    served, client = node
    served.refuse = lambda request: [1] if len(request.objects) > 1 else []
    await index_on(client).upsert("g", chunks(3))
    assert [objects(batch) for batch in served.batches] == [
        [object_id("c0000"), object_id("c0001"), object_id("c0002")],
        [object_id("c0001")],
    ]


async def test_object_that_stays_refused_is_told_without_its_text(node: tuple[Node, NodeClient]) -> None:
    served, client = node
    served.refuse = lambda request: [0]
    with pytest.raises(DependencyUnavailable, match=r"refused 1 of 3 chunks") as refusal:
        await index_on(client).upsert("g", chunks(3, text="a secret"))
    assert "secret" not in refusal.value.message


async def test_chunks_are_sent_in_batches_of_a_mebibyte_at_most(node: tuple[Node, NodeClient]) -> None:
    served, client = node
    await index_on(client).upsert("g", chunks(700, text="x" * 2_000))
    assert sum(len(batch.objects) for batch in served.batches) == 700
    assert all(batch.ByteSize() <= 2**20 + 64 * 1024 for batch in served.batches)
    assert len(served.batches) == 4


async def test_small_chunks_are_sent_by_the_hundred(node: tuple[Node, NodeClient]) -> None:
    served, client = node
    await index_on(client).upsert("g", chunks(600, vectors=chunks(1)[0].vectors))
    assert max(len(batch.objects) for batch in served.batches) <= 256


async def test_chunk_larger_than_a_batch_is_sent_alone(node: tuple[Node, NodeClient]) -> None:
    served, client = node
    await index_on(client).upsert("g", [*chunks(1, text="x" * 2**21), *chunks(2)[1:]])
    assert [len(batch.objects) for batch in served.batches] == [1, 1]


async def test_nothing_is_sent_when_one_chunk_cannot_be_written(node: tuple[Node, NodeClient]) -> None:
    served, client = node
    bad = chunks(600)
    bad[-1] = chunks(1, metadata={"year": "2021"})[0]
    with pytest.raises(InvalidInput):
        await index_on(client).upsert("g", bad)
    assert served.batches == []


@pytest.mark.parametrize(
    ("copies", "level"), [(1, base_pb2.CONSISTENCY_LEVEL_ONE), (3, base_pb2.CONSISTENCY_LEVEL_ALL)]
)
async def test_every_copy_is_written(
    node: tuple[Node, NodeClient], copies: int, level: base_pb2.ConsistencyLevel
) -> None:
    served, client = node
    index = index_on(client, copies=copies)
    await index.upsert("g", chunks(1))
    await index.delete("g", ["c0000"])
    assert [request.consistency_level for request in (*served.batches, *served.deletes)] == [level, level]


async def test_a_majority_of_the_copies_is_enough_when_not_all_can_be_written(node: tuple[Node, NodeClient]) -> None:
    served, client = node
    served.refuse = lambda request: [0] if request.consistency_level == base_pb2.CONSISTENCY_LEVEL_ALL else []
    served.failed_deletes = 1
    index = index_on(client, copies=3)
    await index.upsert("g", chunks(1))
    with pytest.raises(DependencyUnavailable, match="1 of 5"):
        await index.delete("g", ["c0000"])
    levels = [base_pb2.CONSISTENCY_LEVEL_ALL, base_pb2.CONSISTENCY_LEVEL_QUORUM]
    assert [request.consistency_level for request in served.batches] == levels
    assert [request.consistency_level for request in served.deletes] == levels


async def test_chunk_that_could_not_be_deleted_is_told(node: tuple[Node, NodeClient]) -> None:
    served, client = node
    served.failed_deletes = 2
    with pytest.raises(DependencyUnavailable, match="2 of 5"):
        await index_on(client).delete("g", ["c0000"])


async def test_writes_to_one_generation_do_not_overlap(node: tuple[Node, NodeClient]) -> None:
    served, client = node
    index = index_on(client)
    await asyncio.gather(*(index.upsert("g", chunks(600)) for _ in range(3)))
    order = [objects(batch) for batch in served.batches]
    assert len(order) == 9 and order[:3] == order[3:6] == order[6:]


@pytest.mark.parametrize(("changed", "rebuilds"), [(0, 0), (2, 0), (3, 1)])
async def test_keyword_index_is_built_anew_when_more_than_one_chunk_in_fifty_has_another_text(
    node: tuple[Node, NodeClient], changed: int, rebuilds: int
) -> None:
    served, client = node
    written = chunks(100, analysed="w:same")
    served.count = 100
    served.standing = {chunk.chunk_id: "w:old" if place < changed else "w:same" for place, chunk in enumerate(written)}
    classes = FakeClasses()
    index = index_on(client, classes=classes)
    await index.upsert("g", written)
    for _ in range(2):  # the second time there is nothing left to do
        await index.optimize("g")
    assert classes.rebuilds == rebuilds


async def test_keyword_index_is_built_anew_after_many_deletes_and_not_after_a_first_build(
    node: tuple[Node, NodeClient],
) -> None:
    served, client = node
    served.count = 100
    classes = FakeClasses()
    index = index_on(client, classes=classes)
    await index.upsert("g", chunks(100))
    await index.optimize("g")
    assert classes.rebuilds == 0
    await index.delete("g", ["c0000"])  # the node says that this deleted five
    await index.optimize("g")
    assert classes.rebuilds == 1
