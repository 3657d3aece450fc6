"""One run: each engine over a large corpus, then over a small one beside bare clients and Weaviate's own query."""

import asyncio
import os
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import numpy as np

from loadtests.provenance import this_machine, this_source
from loadtests.search_bench.against_bare import AgainstBare, against_bare
from loadtests.search_bench.against_native import AgainstNative, against_native, latency, quality
from loadtests.search_bench.asking import Question, ask
from loadtests.search_bench.collection import Collection, TermCounts, keep_statistics, make_collection
from loadtests.search_bench.corpus import FIELDS, SHARES, BenchQuery, Corpus
from loadtests.search_bench.engines import EFFORTS, Engine, running_engine
from loadtests.search_bench.loading import BATCH, Import, load
from loadtests.search_bench.native import NativeHybrid
from loadtests.search_bench.quantiles import Times, times_of
from loadtests.search_bench.ready_embedding import write_queries
from loadtests.search_bench.recall import recall
from loadtests.search_bench.report import Effort, EngineReport, Filtered, Report, checks
from loadtests.search_bench.searching import search_stub, stage_times
from loadtests.search_bench.stack import running_search
from services.search.domain.keywords import keyword_tokens
from services.shared.catalog.profiles import Overrides
from services.shared.index.chunk import IndexedChunk, Matrix
from services.shared.index.filters import validate

# Steps of ranking that Weaviate's own query has too.
_DIVERSE: Overrides = {"ranking": {"mmr": True}}
_AREA = 3


@dataclass(frozen=True, slots=True)
class Plan:
    """What is measured, and with what."""

    chunks: int
    ratio_chunks: int
    queries: int
    dimensions: int
    seed: int
    engines: tuple[str, ...]
    parts: frozenset[str]
    rate_per_s: float
    seconds: float


@dataclass(frozen=True, slots=True)
class Loaded:
    """A corpus in an engine, as a collection, with its queries in a file for the embedding service."""

    engine: Engine
    collection: Collection
    corpus: Corpus
    imported: Import
    queries: Sequence[BenchQuery]
    queries_file: Path
    logs: Path

    @property
    def questions(self) -> list[Question]:
        """The queries as the legs see them."""
        return [Question(tuple(keyword_tokens(query.text, "en", {})), query.vector) for query in self.queries]

    @property
    def texts(self) -> list[str]:
        """The queries as callers write them."""
        return [query.text for query in self.queries]


def run(plan: Plan) -> Report:
    """Measure everything in the plan; what was started is stopped, and what was written is removed."""
    load_average = os.getloadavg()[0]
    engines: list[EngineReport] = []
    bare: list[AgainstBare] = []
    native: AgainstNative | None = None
    if "index" in plan.parts:
        corpus = Corpus(plan.chunks, plan.queries, plan.dimensions, plan.seed)
        for name in plan.engines:
            with _loaded(name, corpus, {}) as loaded:
                engines.append(_measured(loaded))
    if plan.parts & {"bare", "native"}:
        corpus = Corpus(plan.ratio_chunks, plan.queries, plan.dimensions, plan.seed)
        for name in plan.engines:
            if "bare" in plan.parts:
                with _loaded(name, corpus, {}) as loaded:
                    bare.append(asyncio.run(_against_bare(loaded)))
            if "native" in plan.parts and name == "weaviate":
                with _loaded(name, corpus, _DIVERSE) as loaded:
                    native = asyncio.run(_against_native(plan, loaded))
    return Report(
        date=datetime.now(UTC).date().isoformat(),
        machine=this_machine(),
        source=this_source(),
        load_average=load_average,
        chunks=plan.chunks,
        dimensions=plan.dimensions,
        queries=plan.queries,
        seed=plan.seed,
        engines=engines,
        against_bare=bare,
        against_native=native,
        checks=list(checks(engines, bare, native)),
    )


@contextmanager
def _loaded(name: str, corpus: Corpus, settings: Overrides) -> Iterator[Loaded]:
    with tempfile.TemporaryDirectory(prefix="search-bench-") as scratch:
        folder = Path(scratch)
        with running_engine(name, folder / "engine") as engine:
            _say(f"{name}: loading {corpus.count:,} chunks")
            yield asyncio.run(_load(engine, corpus, settings, folder))


async def _load(engine: Engine, corpus: Corpus, settings: Overrides, folder: Path) -> Loaded:
    index = await engine.open()
    try:
        collection = await make_collection(
            index,
            folder / "catalog.db",
            profile="docs",
            dimensions=corpus.dimensions,
            fields=dict(FIELDS),
            settings=settings,
        )
        counts = TermCounts()
        imported = await load(engine, index, collection.generation_id, _counted(corpus, counts))
    finally:
        await index.close()
    await keep_statistics(collection, counts)
    queries = corpus.queries
    file = folder / "queries.npz"
    write_queries([query.text for query in queries], np.stack([query.vector for query in queries]), file)
    _say(f"{engine.name}: {imported.chunks_per_s:.0f} chunks/s, upkeep {imported.upkeep_s:.1f} s")
    return Loaded(engine, collection, corpus, imported, queries, file, folder / "logs")


def _measured(loaded: Loaded) -> EngineReport:
    engine, corpus = loaded.engine, loaded.corpus
    scores = corpus.exact_scores([query.vector for query in loaded.queries])
    efforts = []
    for effort in EFFORTS:
        _say(f"{engine.name}: effort {effort}")
        engine.set_effort(loaded.collection.generation_id, effort)
        answers = ask(
            engine, loaded.collection.generation_id, loaded.questions, effort=effort, keyword=True
        )  # fmt: skip
        efforts.append(
            Effort(
                effort=effort,
                recall_at_10=recall(answers.found, scores, limit=10),
                recall_at_100=recall(answers.found, scores, limit=100),
                keyword_ms=times_of(answers.keyword_ms),
                vector_ms=times_of(answers.vector_ms),
                both_ms=times_of(answers.both_ms),
                client_mib=answers.resident_mib,
                server_mib=engine.server_mib(),
            )
        )
    engine.set_effort(loaded.collection.generation_id, engine.default_effort)
    filters = list(_filtered(loaded, scores))
    _say(f"{engine.name}: stages")
    return EngineReport(
        engine=engine.name,
        imported=loaded.imported,
        efforts=efforts,
        filters=filters,
        stages_ms=asyncio.run(_stages(loaded)),
    )


def _filtered(loaded: Loaded, scores: Matrix) -> Iterator[Filtered]:
    corpus = loaded.corpus
    cases = [
        *((f"{share:.1%} anywhere", corpus.filter_matching(share), corpus.matching(share)) for share in SHARES),
        ("one area, whatever the query", corpus.filter_area(_AREA), corpus.in_area(_AREA)),
    ]
    for what, filter, among in cases:
        _say(f"{loaded.engine.name}: filter, {what}")
        normal = validate(filter, FIELDS)
        questions = [Question(asked.tokens, asked.vector, normal) for asked in loaded.questions]
        engine, generation_id = loaded.engine, loaded.collection.generation_id
        answers = ask(engine, generation_id, questions, effort=engine.default_effort, keyword=False)
        yield Filtered(
            what=what,
            share=float(among.mean()),
            recall_at_100=recall(answers.found, scores, limit=100, among=among),
            vector_ms=times_of(answers.vector_ms),
        )


async def _stages(loaded: Loaded) -> dict[str, Times]:
    async with (
        running_search(loaded.engine, loaded.collection, loaded.queries_file, loaded.logs) as target,
        search_stub(target) as stub,
    ):
        return await stage_times(stub, loaded.collection, loaded.texts)


async def _against_bare(loaded: Loaded) -> AgainstBare:
    _say(f"{loaded.engine.name}: against a bare client")
    async with running_search(loaded.engine, loaded.collection, loaded.queries_file, loaded.logs) as target:
        return await against_bare(
            loaded.engine, loaded.collection, target, loaded.texts, loaded.questions, loaded.corpus.count
        )


async def _against_native(plan: Plan, loaded: Loaded) -> AgainstNative:
    _say("weaviate: against its own hybrid query")
    native = NativeHybrid(loaded.engine)
    try:
        await native.make(loaded.corpus.dimensions)
        await native.load(loaded.corpus.chunks(BATCH))
        async with running_search(loaded.engine, loaded.collection, loaded.queries_file, loaded.logs) as target:
            recordings = await latency(
                loaded.collection,
                target,
                native,
                loaded.texts,
                loaded.questions,
                rate_per_s=plan.rate_per_s,
                seconds=plan.seconds,
                seed=plan.seed,
            )
        await native.drop()
    finally:
        await native.close()
    _say("weaviate: quality beside its own fusion")
    found = await quality(loaded.engine, loaded.logs.parent / "judged")
    return against_native(
        recordings, found, chunks=loaded.corpus.count, rate_per_s=plan.rate_per_s, seconds=plan.seconds
    )


def _counted(corpus: Corpus, counts: TermCounts) -> Iterator[list[IndexedChunk]]:
    for batch in corpus.chunks(BATCH):
        counts.add(batch)
        yield batch


def _say(line: str) -> None:
    print(line, flush=True)
