"""Searches through the service, one at a time, and the times of their stages."""

import time
from collections import defaultdict
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

from loadtests.search_bench.collection import Collection
from loadtests.search_bench.quantiles import Times, times_of
from plumbline.search.v1 import search_pb2
from plumbline.search.v1.search_pb2_grpc import SearchServiceStub
from services.local.failure import Failure
from services.shared.runtime.channel import open_channel

_TIMEOUT_S = 30.0
_UNIT = "_ms"
CALLER = "caller"
"""The stage that is the whole call as its caller sees it."""


@asynccontextmanager
async def search_stub(target: str) -> AsyncIterator[SearchServiceStub]:
    """Calls the search service at `host:port`."""
    async with open_channel(target) as channel:
        yield SearchServiceStub(channel)


async def search(stub: SearchServiceStub, collection: Collection, query: str) -> search_pb2.SearchResponse:
    """The first page. Raises Failure when a part was left out, for then the times say nothing."""
    response: search_pb2.SearchResponse = await stub.Search(collection.request(query), timeout=_TIMEOUT_S)
    if response.degraded:
        raise Failure(f"search did without {', '.join(response.degraded)}, so its times say nothing")
    return response


async def stage_times(stub: SearchServiceStub, collection: Collection, queries: Sequence[str]) -> dict[str, Times]:
    """The times of each stage over these queries, which are asked once before to warm up."""
    for query in queries:
        await search(stub, collection, query)
    measured: defaultdict[str, list[float]] = defaultdict(list)
    for query in queries:
        began = time.perf_counter()
        response = await search(stub, collection, query)
        measured[CALLER].append((time.perf_counter() - began) * 1000)
        for field, value in response.timings.ListFields():
            measured[field.name.removesuffix(_UNIT)].append(value)
    return {stage: times_of(values) for stage, values in measured.items()}
