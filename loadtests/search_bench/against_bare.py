"""Search against a bare client of the same engine, in turn, one request at a time."""

import time
from collections.abc import Awaitable, Sequence

from loadtests.search_bench.asking import Question
from loadtests.search_bench.bare_client import bare_client
from loadtests.search_bench.collection import Collection
from loadtests.search_bench.engines import Engine
from loadtests.search_bench.quantiles import Times, times_of
from loadtests.search_bench.searching import search, search_stub
from loadtests.strict import StrictFile

_WARM_UP = 50


class AgainstBare(StrictFile):
    """The times of a whole search, gRPC and the look-up of the ready vector included, and of the bare client."""

    engine: str
    chunks: int
    search: Times
    bare: Times


async def against_bare(
    engine: Engine,
    collection: Collection,
    target: str,
    texts: Sequence[str],
    questions: Sequence[Question],
    chunks: int,
) -> AgainstBare:
    """Send each query to both, now one first, now the other."""
    client = await bare_client(engine, collection.generation_id)
    ours: list[float] = []
    theirs: list[float] = []
    try:
        async with search_stub(target) as stub:
            for text, question in list(zip(texts, questions, strict=True))[:_WARM_UP]:
                await search(stub, collection, text)
                await client.search(question.tokens, question.vector)
            for place, (text, question) in enumerate(zip(texts, questions, strict=True)):
                calls = [
                    (ours, lambda text=text: search(stub, collection, text)),
                    (theirs, lambda question=question: client.search(question.tokens, question.vector)),
                ]
                for times, call in calls if place % 2 else reversed(calls):
                    times.append(await _ms(call()))
    finally:
        await client.close()
    return AgainstBare(engine=engine.name, chunks=chunks, search=times_of(ours), bare=times_of(theirs))


async def _ms(call: Awaitable[object]) -> float:
    began = time.perf_counter()
    await call
    return (time.perf_counter() - began) * 1000
