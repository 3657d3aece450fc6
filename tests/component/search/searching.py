"""A search service over a fake index and catalog, with its peers as real gRPC servers, and a small collection in it."""

import uuid
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import Any

import grpc
import numpy as np
import pytest

from plumbline.ranking.v1 import ranking_pb2
from plumbline.search.v1 import filter_pb2
from plumbline.search.v1 import search_pb2 as pb
from plumbline.search.v1.search_pb2_grpc import SearchServiceStub
from services.ranking import wiring as ranking_wiring
from services.ranking.settings import RankingServiceSettings
from services.search.ports import Generation
from services.search.settings import SearchSettings
from services.search.wiring import search_app
from services.shared.clients.filters import field_types_to_proto
from services.shared.index.chunk import IndexedChunk, Matrix
from services.shared.index.fields import FieldType, FieldValue
from services.shared.index.port import Index
from services.shared.text.analyzer import analyze_document
from tests.fakes.fake_catalog import FakeCatalog
from tests.fakes.fake_index import FakeIndex
from tests.fakes.query_embedding import QueryEmbedding, embeds, serving_query_embedding
from tests.fakes.serving import RecordedTelemetry, channel_to, recorded_telemetry, served

MODEL, WEIGHTS = "tiny", "a" * 64
GENERATION = Generation("g1", revision=7, model=MODEL, weights_sha256=WEIGHTS, dimensions=4)
FIELDS = {"kind": FieldType.KEYWORD, "year": FieldType.INTEGER}
RETRIEVAL = pb.RetrievalSettings(
    locale="en",
    fields=field_types_to_proto(FIELDS),
    rrf_k=60,
    keyword_weight=1,
    vector_weight=1,
    depth=100,
    window=100,
)
# For tests that are about what comes, not when: on a busy machine a part may take longer than its usual limit.
PATIENT = {f"{part}_timeout_s": 30.0 for part in ("catalog", "embed", "keyword", "vector", "rank")} | {
    "catalog_timeout_s": 10.0
}
RANKING = ranking_pb2.RankingSettings(relevance=ranking_pb2.RELEVANCE_FUSED, clock_date="2026-11-30")


def rows(*vectors: Sequence[float]) -> Matrix:
    """Unit rows that point along these vectors."""
    matrix = np.array(vectors, dtype=np.float32)
    return matrix / np.linalg.norm(matrix, axis=1, keepdims=True)


def id_of(name: str) -> str:
    """The chunk id that `a_chunk` gives to a name."""
    return str(uuid.uuid5(uuid.NAMESPACE_OID, name))


def a_chunk(
    name: str, text: str, vector: Sequence[float], *, locale: str = "en", context: str = "", **changes: Any
) -> IndexedChunk:
    """A chunk of one window; it is the only one of the document `name` unless `changes` say otherwise."""
    fields: dict[str, Any] = {
        "chunk_id": id_of(name), "document_id": name, "revision": 1, "ordinal": 0, "title": f"Title of {name}",
        "uri": f"https://example.org/{name}", "locale": locale, "date": "", "heading_path": ("Chapter",), "pages": (),
        "text": text, "context": context, "start": 0, "end": len(text), "tokens": len(text.split()),
        "analysed": " ".join(analyze_document(f"{context}\n{text}", locale)), "metadata": {}, "vectors": rows(vector),
    }  # fmt: skip
    return IndexedChunk(**(fields | changes))


COLLECTION = (
    a_chunk("solar", "Solar cells turn light into current.", [1, 0, 0, 0], metadata={"kind": "paper", "year": 2021}),
    a_chunk("wind", "A wind turbine turns wind into current.", [0.6, 0.8, 0, 0], metadata={"kind": "paper"}),
    a_chunk("bread", "Bread rises in a warm oven.", [0, 0, 1, 0], metadata={"kind": "recipe", "year": 1999}),
    a_chunk("toil", "TOIL is time off in lieu of overtime pay.", [0, 0, 0, 1], metadata={"kind": "entry"}),
)
VECTORS = {
    "solar cells": rows([1, 0.1, 0, 0]),
    "turbine": rows([0.7, 0.7, 0, 0]),
    "???": rows([0, 0, 1, 0]),
    "the of and": rows([0, 0, 1, 0]),
    "what is TOIL": rows([1, 0, 0, 0.1]),
}


def a_request(query: str = "solar cells", **changes: Any) -> pb.SearchRequest:
    fields = {"collection": "c", "query": query, "limit": 10, "retrieval": RETRIEVAL, "ranking": RANKING}
    return pb.SearchRequest(**(fields | changes))


def retrieval(**changes: Any) -> pb.RetrievalSettings:
    """RETRIEVAL with other values."""
    changed = pb.RetrievalSettings()
    changed.CopyFrom(RETRIEVAL)
    changed.MergeFrom(pb.RetrievalSettings(**changes))
    return changed


def only(field: str, *values: FieldValue) -> filter_pb2.Filter:
    """The filter `field = value`."""
    kinds = {bool: "boolean", int: "integer", float: "number", str: "text"}
    sent = [filter_pb2.Value(**{kinds[type(value)]: value}) for value in values]
    return filter_pb2.Filter(comparison=filter_pb2.Comparison(field=field, op=filter_pb2.OPERATOR_EQ, values=sent))


@dataclass(frozen=True, slots=True)
class Searching:
    """A running search service and what it stands on."""

    channel: grpc.aio.Channel
    stub: SearchServiceStub
    index: FakeIndex
    catalog: FakeCatalog
    embedding: QueryEmbedding
    telemetry: RecordedTelemetry

    async def search(self, query: str = "solar cells", *, timeout: float = 10, **changes: Any) -> pb.SearchResponse:
        return await self.stub.Search(a_request(query, **changes), timeout=timeout)

    async def found(self, query: str = "solar cells", **changes: Any) -> list[str]:
        """The documents of the hits."""
        return documents(await self.search(query, **changes))

    async def refused(
        self, query: str = "solar cells", *, timeout: float = 10, **changes: Any
    ) -> tuple[grpc.StatusCode, str]:
        """The status and the field at fault of a search that fails."""
        return refusal(await self.failure(query, timeout=timeout, **changes))

    async def failure(self, query: str = "solar cells", *, timeout: float = 10, **changes: Any) -> grpc.aio.AioRpcError:
        with pytest.raises(grpc.aio.AioRpcError) as error:
            await self.search(query, timeout=timeout, **changes)
        return error.value


def documents(response: pb.SearchResponse) -> list[str]:
    return [hit.document_id for hit in response.hits]


def refusal(error: grpc.aio.AioRpcError) -> tuple[grpc.StatusCode, str]:
    field = dict(tuple(error.trailing_metadata() or ())).get("plumbline-error-field-bin", b"")
    return error.code(), field.decode()


# All services of a test share one process and a busy machine: nothing is to be left out because another is at work.
PATIENT: Mapping[str, float] = {
    "catalog_timeout_s": 10.0,
    "embed_timeout_s": 20.0,
    "keyword_timeout_s": 20.0,
    "vector_timeout_s": 20.0,
    "rank_timeout_s": 20.0,
}


@asynccontextmanager
async def searching(
    *chunks: IndexedChunk,
    embedding_target: str | None = None,
    ranking_target: str | None = None,
    engine: Index | None = None,
    generation: Generation = GENERATION,
    vectors: Mapping[str, Matrix] = VECTORS,
    **settings: Any,
) -> AsyncIterator[Searching]:
    """Search over `chunks` (none: COLLECTION) in memory, or over an `engine` that holds what it holds in `generation`.

    Its peers are at other addresses than those of the healthy ones if given; `vectors` are those of the queries.
    """
    index, catalog = FakeIndex(), FakeCatalog()
    catalog.active["c"] = generation
    await index.create_generation(GENERATION.id, GENERATION.dimensions, FIELDS)
    await index.upsert(GENERATION.id, chunks or COLLECTION)
    embedding = QueryEmbedding(embeds(vectors, weights_sha256=WEIGHTS))
    async with AsyncExitStack() as stack:
        if embedding_target is None:
            running = await stack.enter_async_context(serving_query_embedding(embedding))
            embedding_target = running.target
        if ranking_target is None:
            ranking_target = await stack.enter_async_context(serving_real_ranking())
        knobs = SearchSettings(
            port=0,
            embedding_target=embedding_target,
            ranking_target=ranking_target,
            catalog_url="unused",
            index_folder="unused",
            **(PATIENT | settings),
        )
        telemetry = recorded_telemetry("search")
        app = search_app(knobs, telemetry.telemetry, catalog=catalog, index=engine or index)
        running = await stack.enter_async_context(served(app, knobs, telemetry.telemetry))
        channel = await stack.enter_async_context(channel_to(running.target))
        yield Searching(channel, SearchServiceStub(channel), index, catalog, embedding, telemetry)


@asynccontextmanager
async def serving_real_ranking() -> AsyncIterator[str]:
    """The address of the real ranking service."""
    telemetry = recorded_telemetry("ranking").telemetry
    settings = RankingServiceSettings(port=0)
    async with served(await ranking_wiring.build(settings, telemetry), settings, telemetry) as running:
        yield running.target
