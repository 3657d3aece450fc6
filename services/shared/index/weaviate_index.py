"""The engine for more than one machine: a Weaviate of one node or several, a class of one shard per generation.

A write is acknowledged by all replicas, or by a majority when one is away, and a read asks a majority: so that every
read that begins after a write returned meets a replica that has it.
"""

import asyncio
import contextlib
from collections import Counter, defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from typing import Self, TypeVar

import numpy as np
from weaviate.proto.v1 import base_pb2, batch_delete_pb2, batch_pb2, search_get_pb2

from services.shared.index.chunk import ChunkKey, IndexedChunk, LegHit, StoredChunk, Vector
from services.shared.index.fields import BUILT_IN_FIELDS, FieldType, is_declarable
from services.shared.index.filters import Filter
from services.shared.index.precision import Precision
from services.shared.index.weaviate_class import ANALYSED, class_name, is_generation_id
from services.shared.index.weaviate_classes import Classes, no_generation
from services.shared.index.weaviate_cluster import ClassMissing, Cluster, NodeClient, RequestRefused
from services.shared.index.weaviate_condition import Condition
from services.shared.index.weaviate_filter import every_chunk, fields_of, one_of_objects
from services.shared.index.weaviate_leg import Reach, keyword_leg, vector_leg
from services.shared.index.weaviate_node import WeaviateNode
from services.shared.index.weaviate_objects import COLUMNS, object_id, to_chunk, to_objects
from services.shared.index.weaviate_replicas import union_of
from services.shared.index.weaviate_requests import (
    IDS_ONLY,
    MAX_RESULTS,
    Copy,
    Wanted,
    copies,
    count_request,
    document_request,
    filtered_request,
    objects_request,
    page_request,
)
from services.shared.index.weaviate_scan import BEFORE_ALL, KEYS, PAGE, key_of, next_page
from services.shared.runtime.errors import DependencyUnavailable, InvalidInput, NotFound

# With 128, 0.97 of the nearest 100 among 100,000 chunks are found, and 0.94 of those that a filter on 40 % leaves; with
# 256, 0.99, for a millisecond more.
DEFAULT_EF = 256
_READ_S = 10.0
# A batch takes up to some seconds, a delete a tenth of one; but a node that has just lost another keeps them for 20 s.
_WRITE_S = 60.0
_IDS_PER_REQUEST = 1_000
_PAGE = 1_000
_DOCUMENTS_AT_ONCE = 8  # calls side by side, so that one batch of ingest does not keep searches waiting
# A majority's word is enough, but a replica may then do a write after the next one: a chunk that was deleted meanwhile
# stood there again until Weaviate had compared its replicas. So all are waited for unless one is away.
_ALL_OR_A_MAJORITY = (base_pb2.CONSISTENCY_LEVEL_ALL, base_pb2.CONSISTENCY_LEVEL_QUORUM)
_ONE_NODE = (base_pb2.CONSISTENCY_LEVEL_ONE, base_pb2.CONSISTENCY_LEVEL_ONE)
# 250 chunks of 768 dimensions with their text. A node writes some hundred chunks a second, fewer when it is busy, and a
# request must end well before its time.
_BATCH_BYTES = 2**20
_BATCH_OBJECTS = 256
# Dead chunks weigh in idf and mean length, so scores are off by about their share. Building the keyword index anew
# reads every chunk: some hundred a second on a busy core.
_DEAD_SHARE = 0.02
_ANALYSED = Wanted(columns=(*IDS_ONLY.columns, ANALYSED))

_Answer = TypeVar("_Answer")


class WeaviateIndex:
    """`Index` on a Weaviate. Any number of processes may hold one open; one may write to a generation at a time."""

    def __init__(self, cluster: Cluster, classes: Classes, *, replication_factor: int) -> None:
        self._cluster = cluster
        self._classes = classes
        self._majority = replication_factor // 2 + 1
        self._levels = _ONE_NODE if replication_factor == 1 else _ALL_OR_A_MAJORITY
        self._writing: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)
        # Chunks deleted, or given another analysed text, since the keyword index was last built from here. Weaviate
        # counts each as one more until its files happen to be merged.
        self._dead: Counter[str] = Counter()
        self._reach: defaultdict[str, Reach] = defaultdict(Reach)

    @classmethod
    async def open(
        cls,
        nodes: Sequence[WeaviateNode],
        *,
        replication_factor: int = 1,
        api_key: str | None = None,
        ef: int = DEFAULT_EF,
    ) -> Self:
        """The index on these nodes; none of them need answer yet.

        `replication_factor` is that of the generations, those made from here and those read: 1, or the number of nodes,
        so that whichever nodes are asked have a replica. `ef` is how many candidates a vector search of generations
        made from here keeps: more finds more and takes longer.
        """
        cluster = Cluster([NodeClient(node, api_key) for node in nodes])
        classes = Classes(cluster, replication_factor=replication_factor, ef=ef)
        return cls(cluster, classes, replication_factor=replication_factor)

    async def close(self) -> None:
        await self._cluster.close()

    async def create_generation(
        self,
        generation_id: str,
        dimensions: int,
        fields: Mapping[str, FieldType],
        *,
        precision: Precision = Precision.FULL,
    ) -> None:
        if not is_generation_id(generation_id):
            raise InvalidInput(f"{generation_id!r} cannot be a generation's id.", field="generation_id")
        if dimensions < 1:
            raise InvalidInput("A generation needs at least one dimension.", field="dimensions")
        for name in fields:
            if not is_declarable(name):
                raise InvalidInput(f"{name!r} cannot be the name of a declared field.", field=f"fields.{name}")
        async with self._writing[generation_id]:
            await self._classes.make(generation_id, dimensions, fields, precision)

    async def drop_generation(self, generation_id: str) -> None:
        async with self._writing[generation_id]:
            await self._classes.drop(generation_id)
            self._dead.pop(generation_id, None)
            self._reach.pop(generation_id, None)

    async def generations(self) -> list[str]:
        return await self._classes.generation_ids()

    async def upsert(self, generation_id: str, chunks: Sequence[IndexedChunk]) -> None:
        last = {chunk.chunk_id: chunk for chunk in chunks}
        async with self._writing[generation_id]:
            there = await self._classes.read(generation_id)
            objects = to_objects(list(last.values()), class_name(generation_id), there)
            self._dead[generation_id] += await self._otherwise_analysed(generation_id, last)
            for batch in _batches(objects):
                await self._write(batch)

    async def delete(self, generation_id: str, chunk_ids: Iterable[str]) -> None:
        async with self._writing[generation_id]:
            await self._classes.read(generation_id)
            for ids in _portions(chunk_ids):
                filters = one_of_objects([object_id(chunk_id) for chunk_id in ids])
                self._dead[generation_id] += await self._delete(class_name(generation_id), filters)

    async def forget_interrupted(self, generation_id: str, chunk_ids: Iterable[str]) -> None:
        """Delete by the objects' own ids.

        A node that is killed in the middle of a write may keep an object and not its entries in the indices. No filter
        finds it then, and writing the same again mends nothing: only what changed of an object is indexed.
        """
        async with self._writing[generation_id]:
            await self._classes.read(generation_id)
            at_once = asyncio.Semaphore(_DOCUMENTS_AT_ONCE)

            async def forget(chunk_id: str) -> None:
                path = f"/objects/{class_name(generation_id)}/{object_id(chunk_id)}"
                async with at_once:
                    with contextlib.suppress(ClassMissing):  # there is no such object
                        await self._tell(lambda node: node.rest("DELETE", path))

            await asyncio.gather(*(forget(chunk_id) for chunk_id in chunk_ids))

    async def optimize(self, generation_id: str) -> None:
        await self._classes.read(generation_id)
        dead = self._dead[generation_id]
        if dead <= _DEAD_SHARE * await self.count(generation_id):
            return
        await self._classes.rebuild_keyword_index(generation_id)
        self._dead[generation_id] -= dead

    async def keyword(
        self, generation_id: str, tokens: Sequence[str], *, filter: Filter | None, limit: int, vectors: bool = True
    ) -> list[LegHit]:
        condition = await self._condition(generation_id, filter)
        if condition.is_never or not tokens or limit < 1:
            return []
        wanted = Wanted(columns=(*COLUMNS, *condition.properties), vectors=vectors)

        async def read(node: NodeClient) -> list[Copy]:
            return await keyword_leg(node, class_name(generation_id), tokens, condition.filters, limit, wanted)

        return condition.hits(await self._read(generation_id, read, limit=limit))

    async def nearest(
        self, generation_id: str, vector: Vector, *, filter: Filter | None, limit: int, vectors: bool = True
    ) -> list[LegHit]:
        await self._require_comparable(generation_id, vector)
        condition = await self._condition(generation_id, filter)
        if condition.is_never or limit < 1:
            return []
        wanted = Wanted(columns=(*COLUMNS, *condition.properties), vectors=vectors)
        reach = self._reach[generation_id]

        async def read(node: NodeClient) -> list[Copy]:
            return await vector_leg(node, class_name(generation_id), vector, condition.filters, limit, wanted, reach)

        return condition.hits(await self._read(generation_id, read, limit=limit))

    async def fetch(self, generation_id: str, chunk_ids: Sequence[str], *, vectors: bool) -> list[StoredChunk]:
        found = await self._by_ids(generation_id, chunk_ids, Wanted(vectors=vectors))
        chunks = {copy.chunk_id: to_chunk(copy.result) for copy in found}
        return [chunks[chunk_id] for chunk_id in chunk_ids if chunk_id in chunks]

    async def document_chunks(
        self, generation_id: str, document_id: str, *, vectors: bool = False
    ) -> list[StoredChunk]:
        await self._classes.known(generation_id)

        async def read(node: NodeClient) -> list[Copy]:
            return await _document(node, class_name(generation_id), document_id, Wanted(vectors=vectors))

        chunks = [to_chunk(copy.result) for copy in await self._read(generation_id, read)]
        return sorted(chunks, key=lambda chunk: (chunk.ordinal, chunk.chunk_id))

    async def chunks_of(
        self, generation_id: str, document_ids: Sequence[str], *, vectors: bool = False
    ) -> dict[str, list[StoredChunk]]:
        found: dict[str, list[StoredChunk]] = {}
        for start in range(0, len(document_ids), _DOCUMENTS_AT_ONCE):
            some = document_ids[start : start + _DOCUMENTS_AT_ONCE]
            chunks = await asyncio.gather(
                *(self.document_chunks(generation_id, document_id, vectors=vectors) for document_id in some)
            )
            found |= dict(zip(some, chunks, strict=True))
        return found

    async def count(self, generation_id: str, filter: Filter | None = None) -> int:
        condition = await self._condition(generation_id, filter)
        if condition.is_never:
            return 0

        async def count(node: NodeClient) -> int:
            reply = await node.aggregate(count_request(class_name(generation_id), condition.filters))
            return int(reply.single_result.objects_count)

        counts = await self._ask(generation_id, count)
        if min(counts) == max(counts) or max(counts) > MAX_RESULTS:
            return max(counts)

        async def read(node: NodeClient) -> list[Copy]:
            filters = condition.filters or every_chunk()
            return copies(await node.search(filtered_request(class_name(generation_id), filters, IDS_ONLY)))

        # Replicas differ: each chunk that only some have is looked at.
        return len(await self._read(generation_id, read))

    async def existing(self, generation_id: str, chunk_ids: Iterable[str]) -> set[str]:
        return {copy.chunk_id for copy in await self._by_ids(generation_id, chunk_ids, IDS_ONLY)}

    async def scan(self, generation_id: str) -> AsyncIterator[list[ChunkKey]]:
        await self._classes.known(generation_id)
        after: str | None = BEFORE_ALL
        while after is not None:
            request = page_request(class_name(generation_id), after, PAGE, KEYS)
            replies = await self._ask(generation_id, _searching(request))
            page, after = next_page([copies(reply) for reply in replies])
            if page:
                yield [key_of(copy) for copy in page]

    async def _by_ids(self, generation_id: str, chunk_ids: Iterable[str], wanted: Wanted) -> list[Copy]:
        await self._classes.known(generation_id)
        found: list[Copy] = []
        for ids in _portions(chunk_ids):
            request = objects_request(class_name(generation_id), [object_id(chunk_id) for chunk_id in ids], wanted)

            async def read(node: NodeClient, request: search_get_pb2.SearchRequest = request) -> list[Copy]:
                return copies(await node.search(request))

            found += await self._read(generation_id, read)
        return found

    async def _read(
        self, generation_id: str, read: Callable[[NodeClient], Awaitable[list[Copy]]], *, limit: int | None = None
    ) -> list[Copy]:
        """What a majority of the replicas finds; of a leg (one with a `limit`) the best, in the order of hits."""
        answers = await self._ask(generation_id, read)
        if len(answers) == 1:
            return answers[0]
        union = union_of(answers)
        while doubtful := union.doubtful_among_first(limit):
            gone = await self._gone(generation_id, doubtful, changed_too=limit is not None)
            union = union.without(gone).settled({copy.chunk_id for copy in doubtful})
        return list(union.found[:limit])

    async def _gone(self, generation_id: str, doubtful: Sequence[Copy], *, changed_too: bool) -> set[str]:
        """Those that a majority of the replicas does not have, or, if asked, has in another state than this copy's."""

        async def is_gone(copy: Copy) -> bool:
            async def read(node: NodeClient) -> int:
                path = f"/objects/{class_name(generation_id)}/{copy.object_id}"
                there = await node.rest("GET", path, params={"consistency_level": "QUORUM"})
                return int(there["lastUpdateTimeUnix"])

            try:
                [written_ms] = await self._ask(generation_id, read, answers=1)
            except NotFound:  # said by a majority: a node that has just come back misses every object for a moment
                return True
            return changed_too and written_ms != copy.written_ms

        try:
            async with asyncio.TaskGroup() as group:
                looks = {copy.chunk_id: group.create_task(is_gone(copy)) for copy in doubtful}
        except ExceptionGroup as errors:
            raise errors.exceptions[0] from None
        return {chunk_id for chunk_id, look in looks.items() if look.result()}

    async def _condition(self, generation_id: str, filter: Filter | None) -> Condition:
        """The filter as this generation's class can be asked. Raises NotFound."""
        known = await self._classes.known(generation_id)
        if filter is not None and not fields_of(filter) <= known.fields.keys() | BUILT_IN_FIELDS.keys():
            known = await self._classes.read(generation_id)
        return Condition.of(filter, known.fields)

    async def _require_comparable(self, generation_id: str, vector: Vector) -> None:
        known = await self._classes.known(generation_id)
        if vector.shape != (known.dimensions,):
            known = await self._classes.read(generation_id)
        if vector.shape != (known.dimensions,):
            raise InvalidInput(f"A vector of shape {vector.shape} cannot be compared with ({known.dimensions},).")
        if not np.isfinite(vector).all() or not vector.any():
            raise InvalidInput("A vector to search with needs finite values and a direction.")

    async def _ask(
        self, generation_id: str, read: Callable[[NodeClient], Awaitable[_Answer]], *, answers: int | None = None
    ) -> list[_Answer]:
        """What a majority of the replicas says, or so many. Raises NotFound, DependencyUnavailable."""
        try:
            return await self._cluster.ask(read, within_s=_READ_S, answers=answers or self._majority)
        except ClassMissing:
            self._classes.forget(generation_id)
            raise no_generation(generation_id) from None
        except RequestRefused as refused:
            # It may come of what is remembered of a class that was made anew: the next call reads it again.
            self._classes.forget(generation_id)
            raise DependencyUnavailable("The index cannot answer this at the moment.") from refused

    async def _otherwise_analysed(self, generation_id: str, chunks: Mapping[str, IndexedChunk]) -> int:
        """How many of these chunks are there with another analysed text."""
        changed = 0
        for ids in _portions(chunks):
            request = objects_request(class_name(generation_id), [object_id(chunk_id) for chunk_id in ids], _ANALYSED)
            [reply] = await self._ask(generation_id, _searching(request), answers=1)
            changed += sum(copy.analysed != chunks[copy.chunk_id].analysed for copy in copies(reply))
        return changed

    async def _write(self, objects: Sequence[batch_pb2.BatchObject]) -> None:
        """Write objects whole; what a node did not write is given to the next one. Raises DependencyUnavailable."""
        left = list(objects)
        for level in self._levels:
            request = batch_pb2.BatchObjectsRequest(objects=left, consistency_level=level)
            reply = await self._tell(_writing(request))
            if not reply.errors:
                return
            left = [left[error.index] for error in reply.errors]
        raise DependencyUnavailable(f"The index refused {len(left):,} of {len(objects):,} chunks.")

    async def _delete(self, name: str, filters: base_pb2.Filters) -> int:
        """How many objects were deleted. Raises DependencyUnavailable when one could not be."""
        for level in self._levels:
            request = batch_delete_pb2.BatchDeleteRequest(collection=name, filters=filters, consistency_level=level)
            reply = await self._tell(_deleting(request))
            if not reply.failed:
                return int(reply.successful)
        raise DependencyUnavailable(f"The index could not delete {reply.failed:,} of {reply.matches:,} chunks.")

    async def _tell(self, write: Callable[[NodeClient], Awaitable[_Answer]]) -> _Answer:
        try:
            return await self._cluster.tell(write, within_s=_WRITE_S, led=True)
        except RequestRefused as refused:
            raise DependencyUnavailable("The index refuses the write.") from refused


async def _document(node: NodeClient, name: str, document_id: str, wanted: Wanted) -> list[Copy]:
    """All chunks of a document that one node has, page by page."""
    found: dict[str, Copy] = {}
    ordinal = 0
    while True:
        page = copies(await node.search(document_request(name, document_id, ordinal, _PAGE, wanted)))
        found |= {copy.chunk_id: copy for copy in page}
        if len(page) < _PAGE:
            return list(found.values())
        # Old and new chunks of one ordinal stand side by side during an update; a page holds more than those.
        ordinal = page[-1].ordinal


def _searching(
    request: search_get_pb2.SearchRequest,
) -> Callable[[NodeClient], Awaitable[search_get_pb2.SearchReply]]:
    return lambda node: node.search(request)


def _writing(
    request: batch_pb2.BatchObjectsRequest,
) -> Callable[[NodeClient], Awaitable[batch_pb2.BatchObjectsReply]]:
    return lambda node: node.write(request)


def _deleting(
    request: batch_delete_pb2.BatchDeleteRequest,
) -> Callable[[NodeClient], Awaitable[batch_delete_pb2.BatchDeleteReply]]:
    return lambda node: node.delete(request)


def _portions(chunk_ids: Iterable[str]) -> Iterator[list[str]]:
    ids = list(chunk_ids)
    for start in range(0, len(ids), _IDS_PER_REQUEST):
        yield ids[start : start + _IDS_PER_REQUEST]


def _batches(objects: Sequence[batch_pb2.BatchObject]) -> Iterator[list[batch_pb2.BatchObject]]:
    batch: list[batch_pb2.BatchObject] = []
    size = 0
    for one in objects:
        weight = one.ByteSize()
        if batch and (size + weight > _BATCH_BYTES or len(batch) == _BATCH_OBJECTS):
            yield batch
            batch, size = [], 0
        batch.append(one)
        size += weight
    if batch:
        yield batch
