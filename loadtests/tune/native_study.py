"""Weaviate's own hybrid query, MMR and boost beside ours: the same tokens and vectors, a real server of one node.

The native class holds one vector a chunk, that of its first window, because Weaviate's MMR passes over objects with
several; so similarity is told of those vectors for both. Both are asked for the first 20 documents of a window of 100.
"""

import asyncio
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from weaviate.proto.v1 import base_pb2, base_search_pb2, search_get_pb2

from loadtests.quality.chance import CONFIDENCE, change_of
from loadtests.quality.stages import Found
from loadtests.quality.table import change, table, with_interval
from loadtests.search_bench.engines import Engine, running_engine
from loadtests.search_bench.native import Fusion, NativeHybrid
from loadtests.tune.capture import Captured
from loadtests.tune.replay import SHOWN, Replayed, mean_similarity
from loadtests.tune.report import provenance
from loadtests.tune.stage_study import stages
from loadtests.tune.study_sets import PAPERS, TOPICS, StudySet
from loadtests.tune.values import MEASURES, MRR, NDCG20, Run, measured
from services.local.index_engine import EMBEDDED, FOLDERS
from services.ranking.domain.recency import age_in_years
from services.search.condition import field_value
from services.search.domain.revisions import newest_revisions
from services.shared.index.chunk import IndexedChunk, Vector
from services.shared.index.lance_index import LanceIndex
from services.shared.index.weaviate_class import ANALYSED, VECTORS
from services.shared.index.weaviate_cluster import NodeClient

NATIVE_SETS = (PAPERS, TOPICS)
_CLASS = "NativeHybrid"
_BATCH = 200
_WINDOW = 100
_FUSIONS = {
    "ranked": base_search_pb2.Hybrid.FUSION_TYPE_RANKED,
    "relative": base_search_pb2.Hybrid.FUSION_TYPE_RELATIVE_SCORE,
}


@dataclass(frozen=True, slots=True)
class Asked:
    """How the native query is asked: its fusion, MMR's balance (1 is relevance) and the weight of a boost by year."""

    fusion: Fusion
    balance: float | None = None
    boost: float | None = None


# Of the decay: our tiers change at 1 and at 5 years.
_SCALE_YEARS = 5.0
_VARIANTS: Mapping[str, Asked] = {
    "native, ranked fusion": Asked("ranked"),
    "native, relative score": Asked("relative"),
    "native, relative + boost 0.1": Asked("relative", boost=0.1),
    "native, relative + boost 0.25": Asked("relative", boost=0.25),
    "native, relative + MMR 0.8": Asked("relative", balance=0.8),
    "native, relative + MMR 0.6": Asked("relative", balance=0.6),
    "native, relative + boost 0.25 + MMR 0.6": Asked("relative", balance=0.6, boost=0.25),
    "native, ranked + boost 0.25 + MMR 0.6": Asked("ranked", balance=0.6, boost=0.25),
}


def native_page(
    sets: Mapping[str, StudySet], captured: Mapping[str, Captured], data: Path, folder: Path, *, date: str
) -> str:
    """The tables of these sets, which `capture_sets` captured with its data in `data`.

    A Weaviate is started with its own in `folder`; not to be called inside an event loop. Raises Failure.
    """
    parts = [[
        "# Ranking beside Weaviate's own",
        "",
        f"{date}, {provenance()}. Means over queries with {CONFIDENCE:.0%} bootstrap intervals; changes are of paired "
        "queries. Weaviate holds the same tokens and vectors, one vector a chunk.",
    ]]  # fmt: skip
    with running_engine("weaviate", folder) as engine:
        for name, one in sets.items():
            index = data / Path(captured[name].model).name / FOLDERS[EMBEDDED]
            chunks = asyncio.run(_all_chunks(index, captured[name].generation_id))
            parts.append(list(_native_lines(one, chunks, engine)))
    return "\n\n".join("\n".join(part) for part in parts) + "\n"


async def _all_chunks(folder: Path, generation_id: str) -> list[IndexedChunk]:
    """Every chunk of a generation in its newest revision, with its vectors."""
    index = await LanceIndex.open(folder)
    try:
        chunks: list[IndexedChunk] = []
        async for keys in index.scan(generation_id):
            stored = await index.fetch(generation_id, [key.chunk_id for key in keys], vectors=True)
            chunks += [
                IndexedChunk(**{name: getattr(one, name) for name in IndexedChunk.__dataclass_fields__})
                for one in stored
            ]
    finally:
        await index.close()
    newest = newest_revisions(chunks)
    return [chunk for chunk in chunks if chunk.revision == newest[chunk.document_id]]


def _native_lines(one: StudySet, chunks: Sequence[IndexedChunk], engine: Engine) -> Iterator[str]:
    """The table of a set: our stages, then the native query."""
    documents = {chunk.document_id: chunk for chunk in reversed(chunks)}
    runs = {f"ours, {label}": _seen_alike(run, one, documents) for label, run in stages(one).items()}
    runs |= asyncio.run(_native_runs(one, chunks, documents, engine))
    names = [name for name in MEASURES if name in runs["ours, fused"].values]
    ours = list(runs)[len(runs) - len(_VARIANTS) - 1]
    rows = []
    for label, run in runs.items():
        cells = [with_interval(name, run.values[name]) for name in names]
        rows.append((label, *cells, *(change(name, change_of(run.values[name], runs[ours].values[name]))
                                      for name in (MRR, NDCG20))))  # fmt: skip
    yield f"### {one.name}: {len(one.queries)} queries, {one.model}"
    yield ""
    yield from table(("", *names, f"{MRR} less {ours!r}", f"{NDCG20} less {ours!r}"), rows)


def _seen_alike(run: Run, one: StudySet, documents: Mapping[str, IndexedChunk]) -> Run:
    """Our run with the similarity of the vectors that the native class holds."""
    told = [shown([found.document_id for found in replayed.shown], documents, one) for replayed in run.replayed]
    return measured(one.queries, told)


async def _native_runs(
    one: StudySet, chunks: Sequence[IndexedChunk], documents: Mapping[str, IndexedChunk], engine: Engine
) -> dict[str, Run]:
    runs = {}
    async with _loaded(chunks, engine) as client:
        for label, asked in _VARIANTS.items():
            replayed = []
            for query in one.queries:
                assert query.query_vector is not None, "a judged query has words"
                found = await _search(client, query.tokens, query.query_vector, asked, this_year=one.own.today.year)
                replayed.append(shown(found, documents, one))
            runs[label] = measured(one.queries, replayed)
    return runs


def shown(found: Sequence[str], documents: Mapping[str, IndexedChunk], one: StudySet) -> Replayed:
    """The first documents of `found`, best first, each once, as a replay tells them; its values are of these alone."""
    first = [documents[document_id] for document_id in list(dict.fromkeys(found))[:SHOWN]]
    attribute = one.own.ranking.diversify_by
    values = [field_value(chunk, attribute) if attribute else None for chunk in first]
    told = tuple(
        Found(chunk.document_id, None if value is None else str(value), age_in_years(chunk.date, one.own.today))
        for chunk, value in zip(first, values, strict=True)
    )
    similarity = mean_similarity(np.stack([chunk.vectors[0] for chunk in first])) if first else None
    return Replayed(told, similarity, len(set(values) - {None}))


@asynccontextmanager
async def _loaded(chunks: Sequence[IndexedChunk], engine: Engine) -> AsyncIterator[NodeClient]:
    """A client of the server, which holds the class while the block runs."""
    assert engine.node is not None, "the native query is Weaviate's"
    native, client = NativeHybrid(engine), NodeClient(engine.node, engine.api_key)
    await native.make(chunks[0].vectors.shape[1])
    try:
        await native.load(list(chunks[start : start + _BATCH]) for start in range(0, len(chunks), _BATCH))
        yield client
    finally:
        await native.drop()
        await native.close()
        await client.close()


async def _search(
    client: NodeClient, tokens: Sequence[str], vector: Vector, asked: Asked, *, this_year: int
) -> list[str]:
    """The documents of the first hits, best first."""
    packed = base_pb2.Vectors(
        name=VECTORS,
        vector_bytes=np.asarray(vector, dtype="<f4").tobytes(),
        type=base_pb2.Vectors.VECTOR_TYPE_SINGLE_FP32,
    )
    hybrid = base_search_pb2.Hybrid(
        query=" ".join(tokens),
        properties=[ANALYSED],
        fusion_type=_FUSIONS[asked.fusion],
        alpha_param=0.5,
        use_alpha_param=True,
        targets=base_search_pb2.Targets(target_vectors=[VECTORS]),
        vectors=[packed],
        bm25_search_operator=base_search_pb2.SearchOperatorOptions(
            operator=base_search_pb2.SearchOperatorOptions.OPERATOR_OR, minimum_or_tokens_match=1
        ),
    )
    request = search_get_pb2.SearchRequest(
        collection=_CLASS, limit=_WINDOW, hybrid_search=hybrid, uses_123_api=True, uses_125_api=True, uses_127_api=True
    )
    request.properties.non_ref_properties.append("document_id")
    if asked.balance is not None:
        # Of a query with MMR the limit is the window, and MMR's own what is shown.
        request.hybrid_search.selection.mmr.limit = SHOWN + 5  # a few more: two chunks may be of one document
        request.hybrid_search.selection.mmr.balance = asked.balance
    if asked.boost is not None:
        request.boost.weight, request.boost.depth = asked.boost, _WINDOW
        decay = request.boost.conditions.add().numeric_decay
        decay.property, decay.origin, decay.scale = "year", this_year, _SCALE_YEARS
    reply = await client.search(request)
    return [hit.properties.non_ref_props.fields["document_id"].text_value for hit in reply.results]
