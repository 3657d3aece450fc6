"""Search on Weaviate against Weaviate's own hybrid query with MMR and boost: latency at one rate, and quality."""

import asyncio
import random
import uuid
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from datetime import date
from itertools import cycle
from pathlib import Path

import ir_measures
import numpy as np
from ir_measures import Qrel, ScoredDoc, nDCG

from loadtests.arrivals import poisson
from loadtests.figures import Figures, figures
from loadtests.mix import Request
from loadtests.open_loop import offer
from loadtests.quality.known_sets import known_sets
from loadtests.recording import Recording
from loadtests.reply import Reply
from loadtests.search_bench.asking import Question
from loadtests.search_bench.collection import Collection, TermCounts, keep_statistics, make_collection
from loadtests.search_bench.engines import Engine
from loadtests.search_bench.native import PAGE, Fusion, NativeHybrid
from loadtests.search_bench.ready_embedding import write_queries
from loadtests.search_bench.searching import search, search_stub
from loadtests.search_bench.stack import running_search
from loadtests.strict import StrictFile
from services.local.failure import Failure
from services.search.domain.keywords import keyword_tokens
from services.shared.index.chunk import IndexedChunk, Vector
from services.shared.text.analyzer import analyze_document

_TIMEOUT_S = 10.0
_LEAD_S = 0.2
_ROUNDS = 3
_BATCH = 500
_SET = "scifact"

Send = Callable[[int], Awaitable[object]]


class Quality(StrictFile):
    """nDCG@10 on a judged set with ready vectors, over the same tokens and vectors."""

    judged_set: str
    queries: int
    search: float
    native_ranked: float
    native_relative: float


class AgainstNative(StrictFile):
    """Milliseconds from when requests were due, at the same rate for both, in turn."""

    chunks: int
    rate_per_s: float
    seconds_each: float
    search: Figures
    native: Figures
    errors: dict[str, int]
    quality: Quality | None


async def latency(
    collection: Collection,
    target: str,
    native: NativeHybrid,
    texts: Sequence[str],
    questions: Sequence[Question],
    *,
    rate_per_s: float,
    seconds: float,
    seed: int,
) -> tuple[Recording, Recording]:
    """Offer the same schedule to search and to the native query, round by round; `seconds` of each in each round."""
    recordings = (Recording(), Recording())
    this_year = date.today().year
    async with search_stub(target) as stub:

        async def by_search(place: int) -> object:
            return await search(stub, collection, texts[place])

        async def by_native(place: int) -> object:
            asked = questions[place]
            return await native.search(
                asked.tokens, asked.vector, fusion="ranked", boosted_and_diverse=True, this_year=this_year
            )

        for number in range(_ROUNDS):
            subjects = list(zip(recordings, (by_search, by_native), strict=True))
            for recording, send in subjects if number % 2 else reversed(subjects):
                recording.add(await _offered(send, len(texts), rate_per_s, seconds, seed + number))
    return recordings


async def quality(engine: Engine, folder: Path) -> Quality | None:
    """What search and the native query reach on the judged set; None where its data is not there."""
    judged = known_sets()[_SET]
    if judged.content is None or not all(ready.file.is_file() for ready in judged.ready):
        return None
    folder.mkdir()
    documents = list(judged.content.documents())
    passages, queries = (np.load(ready.file).astype(np.float32) for ready in judged.ready)
    asked_texts = list(judged.ready[1].texts())
    chunks = [_chunk(document["id"], document["text"], row) for document, row in zip(documents, passages, strict=True)]
    collection, native = await _loaded(engine, folder, chunks, passages.shape[1])
    vectors = {text: row / np.linalg.norm(row) for text, row in zip(asked_texts, queries, strict=True)}
    write_queries(list(vectors), np.stack(list(vectors.values())), folder / "queries.npz")
    judgments = list(judged.content.judgments())
    runs: dict[str, dict[str, list[str]]] = {"search": {}, "ranked": {}, "relative": {}}
    fusions: Sequence[Fusion] = ("ranked", "relative")
    try:
        async with (
            running_search(engine, collection, folder / "queries.npz", folder / "logs") as target,
            search_stub(target) as stub,
        ):
            for one in judgments:
                text, key = one["query"], one["id"]
                tokens = keyword_tokens(text, "en", {})
                hits = (await search(stub, collection, text)).hits
                runs["search"][key] = [hit.document_id for hit in hits]
                for fusion in fusions:
                    runs[fusion][key] = await native.search(
                        tokens, vectors[text], fusion=fusion, boosted_and_diverse=False, this_year=0
                    )
    finally:
        await native.drop()
        await native.close()
    relevance = {one["id"]: one["relevance"] for one in judgments}
    ndcg = {name: _ndcg(run, relevance) for name, run in runs.items()}
    return Quality(
        judged_set=_SET,
        queries=len(judgments),
        search=ndcg["search"],
        native_ranked=ndcg["ranked"],
        native_relative=ndcg["relative"],
    )


async def _loaded(
    engine: Engine, folder: Path, chunks: list[IndexedChunk], dimensions: int
) -> tuple[Collection, NativeHybrid]:
    batches = [chunks[start : start + _BATCH] for start in range(0, len(chunks), _BATCH)]
    index = await engine.open()
    try:
        collection = await make_collection(
            index, folder / "catalog.db", profile="docs", dimensions=dimensions, fields={}, settings={}
        )
        counts = TermCounts()
        for batch in batches:
            await index.upsert(collection.generation_id, batch)
            counts.add(batch)
        await keep_statistics(collection, counts)
    finally:
        await index.close()
    native = NativeHybrid(engine)
    await native.make(dimensions)
    await native.load(batches)
    return collection, native


def _chunk(document_id: str, text: str, row: Vector) -> IndexedChunk:
    return IndexedChunk(
        chunk_id=str(uuid.uuid5(uuid.NAMESPACE_URL, document_id)), document_id=document_id, revision=1, ordinal=0,
        title="", uri="", locale="en", date="", heading_path=(), pages=(), text=text, context="",
        start=0, end=len(text), tokens=len(text.split()),
        analysed=" ".join(analyze_document(text, "en")), metadata={},
        vectors=(row / np.linalg.norm(row))[np.newaxis].astype(np.float32),
    )  # fmt: skip


def _ndcg(run: Mapping[str, Sequence[str]], relevance: Mapping[str, Mapping[str, int]]) -> float:
    qrels = [Qrel(query, document, grade) for query, grades in relevance.items() for document, grade in grades.items()]
    scored = [
        ScoredDoc(query, document, -place)
        for query, found in run.items()
        for place, document in enumerate(found[:PAGE])
    ]
    return float(ir_measures.calc_aggregate([nDCG @ 10], qrels, scored)[nDCG @ 10])


async def _offered(send: Send, queries: int, rate_per_s: float, seconds: float, seed: int) -> Recording:
    """One round; its first fifth warms up and is not recorded."""
    warm_up_s = seconds / 5
    due_s: Iterable[float] = poisson(rate_per_s, warm_up_s + seconds, random.Random(seed))
    requests = (
        Request(kind="search", call="search", over="grpc", body={"place": place}, timeout_s=_TIMEOUT_S)
        for place in cycle(range(queries))
    )

    async def reply(request: Request) -> Reply:
        try:
            await send(request.body["place"])
        except Failure:
            return Reply(error="degraded")
        return Reply()

    starts_at = asyncio.get_running_loop().time() + _LEAD_S
    return await offer(due_s, requests, reply, starts_at=starts_at, warm_up_s=warm_up_s, duration_s=seconds)


def against_native(
    recordings: tuple[Recording, Recording], found: Quality | None, *, chunks: int, rate_per_s: float, seconds: float
) -> AgainstNative:
    """The report of both recordings."""
    ours, theirs = (recording.kinds["search"] for recording in recordings)
    return AgainstNative(
        chunks=chunks,
        rate_per_s=rate_per_s,
        seconds_each=seconds * _ROUNDS,
        search=figures(ours.measures["latency"]),
        native=figures(theirs.measures["latency"]),
        errors=dict(ours.errors + theirs.errors),
        quality=found,
    )
