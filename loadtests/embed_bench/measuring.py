"""How a subject is measured: queries of clients who ask again at once, passages, and queries during passages."""

import asyncio
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress

import numpy as np
from pydantic import Field

from loadtests.embed_bench.subjects import Subject
from loadtests.strict import StrictFile

MIXED_RATE_PER_S = 4.0


class Queries(StrictFile):
    """Single-text queries of some clients at a time."""

    clients: int
    queries: int
    per_s: float = Field(description="Queries answered a second.")
    p50_ms: float
    p95_ms: float


class Mixed(StrictFile):
    """Queries at a fixed rate, first alone and then while passages saturate the device."""

    queries_per_s: float
    idle_p95_ms: float
    p50_ms: float
    p95_ms: float
    passages_per_s: float = Field(description="Passages embedded a second meanwhile.")


async def closed_loop(subject: Subject, texts: Iterator[str], *, clients: int, queries: int) -> Queries:
    """So many queries, each client asking the next when it has its answer."""
    latencies: list[float] = []
    left = [next(texts) for _ in range(queries)]

    async def client() -> None:
        while left:
            latencies.append(await _seconds(subject, left.pop()))

    started = time.perf_counter()
    await asyncio.gather(*(client() for _ in range(clients)))
    elapsed = time.perf_counter() - started
    return Queries(
        clients=clients,
        queries=queries,
        per_s=queries / elapsed,
        p50_ms=quantile_ms(latencies, 50),
        p95_ms=quantile_ms(latencies, 95),
    )


async def passages_per_s(subject: Subject, passages: Sequence[str]) -> float:
    """Passages embedded a second, nothing else going on."""
    started = time.perf_counter()
    await subject.embed_all(passages)
    return len(passages) / (time.perf_counter() - started)


async def mixed(
    subject: Subject, texts: Iterator[str], passages: Sequence[str], *, texts_a_call: int, in_flight: int, queries: int
) -> Mixed:
    """Queries at a fixed rate, however slow the answers, alone and then while `in_flight` calls of passages wait."""
    idle = await _at_rate(subject, texts, queries)
    done = 0

    async def ingest() -> None:
        nonlocal done
        start = 0
        while True:
            call = [passages[(start + place) % len(passages)] for place in range(texts_a_call)]
            start += texts_a_call
            await subject.embed(call, query=False)
            done += len(call)

    callers = [asyncio.ensure_future(ingest()) for _ in range(in_flight)]
    await asyncio.sleep(1.0)  # until the queue is full
    before, started = done, time.perf_counter()
    busy = await _at_rate(subject, texts, queries)
    rate = (done - before) / (time.perf_counter() - started)
    for caller in callers:
        caller.cancel()
    for caller in callers:
        with suppress(asyncio.CancelledError):
            await caller
    return Mixed(
        queries_per_s=MIXED_RATE_PER_S,
        idle_p95_ms=quantile_ms(idle, 95),
        p50_ms=quantile_ms(busy, 50),
        p95_ms=quantile_ms(busy, 95),
        passages_per_s=rate,
    )


async def _at_rate(subject: Subject, texts: Iterator[str], queries: int) -> list[float]:
    """Seconds from when each query was due, so that a stall is counted for all that it delays."""
    loop = asyncio.get_running_loop()
    first = loop.time()

    async def one(number: int, text: str) -> float:
        due = first + number / MIXED_RATE_PER_S
        await asyncio.sleep(max(0.0, due - loop.time()))
        await subject.embed([text], query=True)
        return loop.time() - due

    return await asyncio.gather(*(one(number, next(texts)) for number in range(queries)))


async def _seconds(subject: Subject, text: str) -> float:
    started = time.perf_counter()
    await subject.embed([text], query=True)
    return time.perf_counter() - started


def quantile_ms(seconds: Sequence[float], percent: float) -> float:
    """A percentile, milliseconds."""
    return float(np.percentile(seconds, percent)) * 1000
