"""Search against a bare client of the same engine, in turn, one request at a time."""

import time
from collections.abc import Sequence

from pydantic import Field

from loadtests.search_bench.asking import Question
from loadtests.search_bench.bare_client import bare_client
from loadtests.search_bench.collection import Collection
from loadtests.search_bench.engines import Engine
from loadtests.search_bench.quantiles import Times, times_of
from loadtests.search_bench.searching import search, search_stub
from loadtests.strict import StrictFile
from plumbline.search.v1 import search_pb2

_WARM_UP = 50


class AgainstBare(StrictFile):
    """The times of a search and of the bare client."""

    engine: str
    chunks: int
    search: Times = Field(description="What search says of itself, less what it waited for the query's vector.")
    caller: Times = Field(description="The whole call as its caller sees it, gRPC and that wait included.")
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
    callers: list[float] = []
    theirs: list[float] = []
    try:
        async with search_stub(target) as stub:
            for text, question in list(zip(texts, questions, strict=True))[:_WARM_UP]:
                await search(stub, collection, text)
                await client.search(question.tokens, question.vector)

            async def by_search(text: str) -> None:
                began = time.perf_counter()
                response = await search(stub, collection, text)
                callers.append((time.perf_counter() - began) * 1000)
                ours.append(without_embedding_ms(response.timings))

            async def by_client(question: Question) -> None:
                began = time.perf_counter()
                await client.search(question.tokens, question.vector)
                theirs.append((time.perf_counter() - began) * 1000)

            for place, (text, question) in enumerate(zip(texts, questions, strict=True)):
                if place % 2:
                    await by_search(text)
                    await by_client(question)
                else:
                    await by_client(question)
                    await by_search(text)
    finally:
        await client.close()
    return AgainstBare(
        engine=engine.name, chunks=chunks, search=times_of(ours), caller=times_of(callers), bare=times_of(theirs)
    )


def without_embedding_ms(timings: search_pb2.SearchTimings) -> float:
    """A search's total less what embedding added to it: the vector leg waits for it, the keyword leg does not."""
    with_it = max(timings.keyword_ms, timings.embed_ms + timings.vector_ms)
    return float(timings.total_ms - with_it + max(timings.keyword_ms, timings.vector_ms))
