"""A real node behind a proxy that refuses, is silent, or breaks off: what the whole index makes of it."""

import asyncio
import time
from collections.abc import AsyncIterator
from enum import Enum

import pytest

from services.shared.index.port import Index
from services.shared.index.weaviate_index import WeaviateIndex
from services.shared.index.weaviate_node import WeaviateNode
from services.shared.runtime.errors import DependencyUnavailable
from tests.conftest import WeaviateAddress
from tests.contract.index.examples import EAST, FIELDS, GENERATION, a_chunk, found_by_vector, found_by_words

pytestmark = pytest.mark.weaviate


class Fault(Enum):
    NONE = "passes everything on"
    REFUSES = "ends every connection at once"
    STALLS = "passes nothing on"
    DROPS = "ends every connection at the first answer"


class Proxy:
    """A door to one port of a node, that may be set to a fault; it is for connections old and new."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._fault = Fault.NONE
        self._links: set[asyncio.Task[None]] = set()
        self._writers: set[asyncio.StreamWriter] = set()

    async def __aenter__(self) -> "Proxy":
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *error: object) -> None:
        self._server.close()
        for link in self._links:
            link.cancel()
        await asyncio.gather(*self._links, return_exceptions=True)

    def set(self, fault: Fault) -> None:
        self._fault = fault
        if fault is Fault.REFUSES:
            for writer in self._writers:
                writer.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        link = asyncio.current_task()
        assert link is not None
        self._links.add(link)
        self._writers.add(writer)
        try:
            if self._fault is not Fault.REFUSES:
                node_reader, node_writer = await asyncio.open_connection("127.0.0.1", self._port)
                try:
                    async with asyncio.TaskGroup() as both_ways:
                        both_ways.create_task(self._pass_on(reader, node_writer))
                        both_ways.create_task(self._pass_on(node_reader, writer, answers=True))
                finally:
                    node_writer.close()
        except* OSError:
            pass
        finally:
            writer.close()
            self._writers.discard(writer)
            self._links.discard(link)

    async def _pass_on(
        self, source: asyncio.StreamReader, target: asyncio.StreamWriter, *, answers: bool = False
    ) -> None:
        while part := await source.read(65_536):
            if self._fault is Fault.STALLS:
                await asyncio.Event().wait()
            if self._fault is Fault.DROPS and answers:
                raise ConnectionAbortedError
            target.write(part)
            await target.drain()
        raise ConnectionResetError  # one side is done, so the other is


@pytest.fixture
async def proxies(cleared_weaviate: WeaviateAddress) -> AsyncIterator[tuple[Proxy, Proxy]]:
    """Doors to the HTTP and the gRPC port of the node."""
    node = cleared_weaviate.nodes[0]
    async with Proxy(node.http_port) as http, Proxy(node.grpc_port) as rpc:
        yield http, rpc


@pytest.fixture
async def behind_proxy(
    cleared_weaviate: WeaviateAddress, proxies: tuple[Proxy, Proxy], index_there: Index
) -> AsyncIterator[Index]:
    """The index as one finds it that knows the node by its doors only."""
    http, rpc = proxies
    index = await WeaviateIndex.open([WeaviateNode("127.0.0.1", http.port, rpc.port)], api_key=cleared_weaviate.api_key)
    assert await found_by_words(index, "w:all") == ["c1"]
    yield index
    await index.close()


@pytest.fixture
async def two_doors(
    cleared_weaviate: WeaviateAddress, proxies: tuple[Proxy, Proxy], index_there: Index
) -> AsyncIterator[Index]:
    """The index as one finds it that knows two addresses: the doors, and the node itself."""
    http, rpc = proxies
    nodes = [WeaviateNode("127.0.0.1", http.port, rpc.port), cleared_weaviate.nodes[0]]
    index = await WeaviateIndex.open(nodes, api_key=cleared_weaviate.api_key)
    assert await found_by_words(index, "w:all") == ["c1"]
    assert await found_by_words(index, "w:all") == ["c1"]
    yield index
    await index.close()


@pytest.fixture
async def index_there(cleared_weaviate: WeaviateAddress) -> AsyncIterator[Index]:
    """The index with one chunk, by the node's own address."""
    index = await WeaviateIndex.open(cleared_weaviate.nodes, api_key=cleared_weaviate.api_key)
    await index.create_generation(GENERATION, 4, FIELDS)
    await index.upsert(GENERATION, [a_chunk("c1")])
    yield index
    await index.close()


def tasks_of_calls() -> list[str]:
    return [repr(task) for task in asyncio.all_tasks() if "_begun" in repr(task)]


@pytest.mark.parametrize("fault", [Fault.REFUSES, Fault.DROPS])
async def test_node_that_ends_connections_is_unavailable_at_once(
    behind_proxy: Index, proxies: tuple[Proxy, Proxy], fault: Fault
) -> None:
    for proxy in proxies:
        proxy.set(fault)
    began = time.monotonic()
    for call in (
        found_by_words(behind_proxy, "w:all"),
        found_by_vector(behind_proxy),
        behind_proxy.count(GENERATION),
        behind_proxy.fetch(GENERATION, ["c1"], vectors=True),
        behind_proxy.upsert(GENERATION, [a_chunk("c2")]),
        behind_proxy.delete(GENERATION, ["c1"]),
        behind_proxy.generations(),
    ):
        with pytest.raises(DependencyUnavailable):
            await call
    assert time.monotonic() - began < 10
    assert tasks_of_calls() == []


async def test_node_that_stalls_holds_no_caller_past_its_deadline(
    behind_proxy: Index, proxies: tuple[Proxy, Proxy]
) -> None:
    for proxy in proxies:
        proxy.set(Fault.STALLS)
    for call in (
        behind_proxy.keyword(GENERATION, ["w:all"], filter=None, limit=5),
        behind_proxy.nearest(GENERATION, EAST, filter=None, limit=5),
        behind_proxy.upsert(GENERATION, [a_chunk("c2")]),
        behind_proxy.delete(GENERATION, ["c1"]),
    ):
        began = time.monotonic()
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.05):
                await call
        assert time.monotonic() - began < 2
        assert tasks_of_calls() == []


@pytest.mark.parametrize("fault", [Fault.REFUSES, Fault.STALLS, Fault.DROPS])
async def test_other_address_answers_while_one_is_at_fault(
    two_doors: Index, proxies: tuple[Proxy, Proxy], fault: Fault
) -> None:
    for proxy in proxies:
        proxy.set(fault)
    for _ in range(4):
        assert await found_by_words(two_doors, "w:all") == ["c1"]
        assert await found_by_vector(two_doors) == ["c1"]
        assert await two_doors.count(GENERATION) == 1
    assert tasks_of_calls() == []


async def test_write_goes_to_the_other_address_while_one_refuses(
    two_doors: Index, proxies: tuple[Proxy, Proxy]
) -> None:
    for proxy in proxies:
        proxy.set(Fault.REFUSES)
    for number in range(4):
        await two_doors.upsert(GENERATION, [a_chunk(f"w{number}")])
    await two_doors.delete(GENERATION, ["c1", "w0"])
    assert await found_by_words(two_doors, "w:all") == ["w1", "w2", "w3"]


async def test_node_that_is_back_is_used_again(behind_proxy: Index, proxies: tuple[Proxy, Proxy]) -> None:
    for proxy in proxies:
        proxy.set(Fault.REFUSES)
    with pytest.raises(DependencyUnavailable):
        await found_by_words(behind_proxy, "w:all")
    for proxy in proxies:
        proxy.set(Fault.NONE)
    async with asyncio.timeout(20):
        while True:
            try:
                assert await found_by_words(behind_proxy, "w:all") == ["c1"]
                break
            except DependencyUnavailable:
                await asyncio.sleep(0.05)  # until gRPC has connected again
    await behind_proxy.upsert(GENERATION, [a_chunk("c2")])
    assert await found_by_words(behind_proxy, "w:all") == ["c1", "c2"]
