"""What a caller gets while the real Weaviate is slow for a leg, refuses it, or drops its connections."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from dataclasses import dataclass
from typing import Any

import grpc
import pytest

from plumbline.search.v1 import search_pb2 as pb
from services.shared.index.weaviate_index import WeaviateIndex
from services.shared.index.weaviate_node import WeaviateNode
from tests.component.search.conftest import Engine
from tests.component.search.searching import COLLECTION, Searching, documents, searching
from tests.conftest import WeaviateAddress
from tests.fakes.faulty_peers import Wire, wire_to
from tests.fakes.faulty_weaviate import FaultyWeaviate, before

pytestmark = [pytest.mark.weaviate, pytest.mark.parametrize("engine_settings", ["weaviate"], indirect=True)]
MODES = {"keyword": pb.MODE_KEYWORD, "vector": pb.MODE_VECTOR}
OTHER = {"keyword": "vector", "vector": "keyword"}
FIRST = {"keyword": ["solar"], "vector": ["solar", "wind"]}


@dataclass(frozen=True, slots=True)
class Tried:
    """The service, the server before Weaviate, and the wire between the two."""

    service: Searching
    weaviate: FaultyWeaviate
    wire: Wire


@pytest.fixture
async def tried(engine: Engine, weaviate: WeaviateAddress) -> AsyncIterator[Tried]:
    await engine.hold(*COLLECTION)
    node = weaviate.nodes[0]
    async with AsyncExitStack() as stack:
        faulty, target = await stack.enter_async_context(before(node))
        wire = await stack.enter_async_context(wire_to(target))
        host, port = wire.target.split(":")
        index = await WeaviateIndex.open([WeaviateNode(host, node.http_port, int(port))], api_key=weaviate.api_key)
        service = await stack.enter_async_context(
            searching(engine=index, generation=engine.generation, keyword_timeout_s=0.5, vector_timeout_s=0.5)
        )
        assert not (await service.search()).degraded
        yield Tried(service, faulty, wire)


def is_unavailable(error: grpc.aio.AioRpcError) -> bool:
    return error.code() is grpc.StatusCode.UNAVAILABLE and "plumbline-retry-after-ms" in dict(
        tuple(error.trailing_metadata())
    )


@pytest.mark.parametrize("leg", ["keyword", "vector"])
@pytest.mark.parametrize("fault", ["stalls", "refuses"])
async def test_a_leg_that_the_engine_stalls_or_refuses_is_named_and_the_other_one_answers(
    tried: Tried, leg: str, fault: str
) -> None:
    tried.weaviate.faults[leg] = fault
    response = await tried.service.search()
    assert list(response.degraded) == [leg]
    assert documents(response)[: len(FIRST[OTHER[leg]])] == FIRST[OTHER[leg]]
    assert is_unavailable(await tried.service.failure(mode=MODES[leg]))
    assert not (await tried.service.search(mode=MODES[OTHER[leg]])).degraded
    tried.weaviate.faults.clear()
    assert not (await tried.service.search()).degraded


@pytest.mark.parametrize("mode", [pb.MODE_HYBRID, pb.MODE_KEYWORD, pb.MODE_VECTOR])
@pytest.mark.parametrize("fault", ["stalls", "cuts"])
async def test_a_connection_that_stalls_or_breaks_inside_a_reply_is_unavailable_and_never_an_empty_list(
    tried: Tried, fault: str, mode: int
) -> None:
    tried.wire.fault = fault
    assert is_unavailable(await tried.service.failure(mode=mode))
    assert bool(tried.wire.cut) == (fault == "cuts")
    tried.wire.fault = ""
    async with asyncio.timeout(10):
        while not await answered(tried.service, mode=mode):
            pass


@pytest.mark.parametrize("leg", ["keyword", "vector"])
async def test_a_stalled_leg_costs_a_call_of_50_ms_its_hits_and_leaves_nothing_running(tried: Tried, leg: str) -> None:
    tried.weaviate.faults[leg] = "stalls"
    before_call = asyncio.all_tasks()
    began = time.perf_counter()
    response = await answered(tried.service, timeout=0.05)
    took_s = time.perf_counter() - began
    print(f"{leg} stalls in Weaviate, deadline 50 ms: {'answered' if response else 'out of time'} after {took_s:.4f} s")
    assert took_s < 0.5
    if response:
        assert leg in response.degraded
    async with asyncio.timeout(5):
        while left := asyncio.all_tasks() - before_call - {asyncio.current_task()}:
            await asyncio.wait(left)
    assert tried.weaviate.in_flight == 0


async def answered(service: Searching, **changes: Any) -> pb.SearchResponse | None:
    """The response, or None when a part is away or the time is up."""
    try:
        return await service.search(**changes)
    except grpc.aio.AioRpcError as error:
        assert error.code() in (grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.DEADLINE_EXCEEDED)
        return None
