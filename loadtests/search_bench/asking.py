"""Asks the legs of an index from a process of its own, one query at a time: what is found, and how long it takes.

The process holds nothing but the index, so its memory is what searching costs.
"""

import asyncio
import os
import time
from collections.abc import Awaitable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context

from loadtests.process_figures import resident_mib
from loadtests.search_bench.engines import Engine
from services.shared.index.chunk import LegHit, Vector
from services.shared.index.filters import Filter
from services.shared.index.port import Index

DEPTH = 100
"""Chunks that a leg fetches, with their vectors, as a search does."""


@dataclass(frozen=True, slots=True)
class Question:
    """A query as the legs see it."""

    tokens: tuple[str, ...]
    vector: Vector
    filter: Filter | None = None


@dataclass(frozen=True, slots=True)
class Answers:
    """For each question the ids and scores of the vector leg; milliseconds of each kind; the process's memory."""

    found: list[list[tuple[str, float]]]
    keyword_ms: list[float]
    vector_ms: list[float]
    both_ms: list[float]
    resident_mib: float


def ask(engine: Engine, generation_id: str, questions: Sequence[Question], *, effort: int, keyword: bool) -> Answers:
    """Ask all questions twice, the first time to warm up; with `keyword` also the keyword leg, and both together."""
    with ProcessPoolExecutor(max_workers=1, mp_context=get_context("spawn")) as process:
        return process.submit(_ask, engine, generation_id, list(questions), effort, keyword).result()


def _ask(engine: Engine, generation_id: str, questions: list[Question], effort: int, keyword: bool) -> Answers:
    return asyncio.run(_ask_all(engine, generation_id, questions, effort, keyword))


async def _ask_all(
    engine: Engine, generation_id: str, questions: list[Question], effort: int, keyword: bool
) -> Answers:
    index = await engine.open(effort=effort)
    try:
        for question in questions:
            await _nearest(index, generation_id, question)
        answers = Answers([], [], [], [], 0.0)
        for question in questions:
            hits, vector_ms = await _timed(_nearest(index, generation_id, question))
            answers.found.append([(hit.chunk.chunk_id, hit.score) for hit in hits])
            answers.vector_ms.append(vector_ms)
            if keyword:
                answers.keyword_ms.append((await _timed(_keyword(index, generation_id, question)))[1])
                answers.both_ms.append(await _both_ms(index, generation_id, question))
        return Answers(answers.found, answers.keyword_ms, answers.vector_ms, answers.both_ms, resident_mib(os.getpid()))
    finally:
        await index.close()


def _nearest(index: Index, generation_id: str, question: Question) -> Awaitable[list[LegHit]]:
    return index.nearest(generation_id, question.vector, filter=question.filter, limit=DEPTH)


def _keyword(index: Index, generation_id: str, question: Question) -> Awaitable[list[LegHit]]:
    return index.keyword(generation_id, question.tokens, filter=question.filter, limit=DEPTH)


async def _both_ms(index: Index, generation_id: str, question: Question) -> float:
    began = time.perf_counter()
    await asyncio.gather(_keyword(index, generation_id, question), _nearest(index, generation_id, question))
    return (time.perf_counter() - began) * 1000


async def _timed(call: Awaitable[list[LegHit]]) -> tuple[list[LegHit], float]:
    began = time.perf_counter()
    hits = await call
    return hits, (time.perf_counter() - began) * 1000
