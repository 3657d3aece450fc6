"""Which node is asked, over real sockets: nodes that answer, refuse, are silent, or break off."""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import grpc
import pytest
from weaviate.proto.v1 import search_get_pb2, weaviate_pb2_grpc

from services.shared.index import weaviate_cluster
from services.shared.index.weaviate_cluster import ClassMissing, Cluster, NodeClient, RequestRefused
from services.shared.index.weaviate_node import WeaviateNode
from services.shared.runtime.errors import DependencyUnavailable

Answer = Callable[[grpc.aio.ServicerContext[Any, Any]], Awaitable[search_get_pb2.SearchReply]]


class Node(weaviate_pb2_grpc.WeaviateServicer):  # type: ignore[misc]
    """A node of one call, which counts those that began and those that were cancelled."""

    def __init__(self, answer: Answer) -> None:
        self._answer = answer
        self.began = 0
        self.cancelled = asyncio.Event()

    async def Search(self, request: Any, context: Any) -> search_get_pb2.SearchReply:
        self.began += 1
        try:
            return await self._answer(context)
        except asyncio.CancelledError:
            self.cancelled.set()
            raise


def named(name: str) -> Answer:
    async def answer(context: object) -> search_get_pb2.SearchReply:
        return search_get_pb2.SearchReply(generative_grouped_result=name)

    return answer


async def silent(context: object) -> search_get_pb2.SearchReply:
    await asyncio.Event().wait()
    raise AssertionError


def failing(code: grpc.StatusCode, details: str = "no") -> Answer:
    async def answer(context: grpc.aio.ServicerContext[Any, Any]) -> search_get_pb2.SearchReply:
        await context.abort(code, details)
        raise AssertionError

    return answer


@asynccontextmanager
async def serving(*answers: Answer, patience_s: float = 60) -> AsyncIterator[tuple[Cluster, list[Node]]]:
    """A cluster of one node for each answer; its patience is no part of a test that does not name it."""
    nodes = [Node(answer) for answer in answers]
    servers, clients = [], []
    for node in nodes:
        server = grpc.aio.server()
        weaviate_pb2_grpc.add_WeaviateServicer_to_server(node, server)  # type: ignore[no-untyped-call]
        port = server.add_insecure_port("127.0.0.1:0")
        await server.start()
        servers.append(server)
        clients.append(NodeClient(WeaviateNode("127.0.0.1", port, port), None))
    cluster = Cluster(clients, patience_s=patience_s)
    try:
        yield cluster, nodes
    finally:
        await cluster.close()
        for server in servers:
            await server.stop(None)


async def search(node: NodeClient) -> str:
    reply = await node.search(search_get_pb2.SearchRequest())
    return reply.generative_grouped_result


def own_tasks() -> set[asyncio.Task[Any]]:
    return {task for task in asyncio.all_tasks() if "_begun" in repr(task)}


async def test_reads_take_turns() -> None:
    async with serving(named("a"), named("b"), named("c")) as (cluster, _):
        asked = [await cluster.ask(search, within_s=5) for _ in range(6)]
    assert asked == [["a"], ["b"], ["c"]] * 2


async def test_several_answers_come_from_several_nodes() -> None:
    async with serving(named("a"), named("b"), named("c")) as (cluster, _):
        assert sorted(await cluster.ask(search, within_s=5, answers=2)) == ["a", "b"]
        assert sorted(await cluster.ask(search, within_s=5, answers=3)) == ["a", "b", "c"]


@pytest.mark.parametrize("code", [grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.UNKNOWN])
async def test_node_that_refuses_is_passed_over_at_once(code: grpc.StatusCode) -> None:
    async with serving(failing(code), named("b")) as (cluster, _):
        began = time.monotonic()
        for _ in range(4):
            assert await cluster.ask(search, within_s=30) == ["b"]
        assert time.monotonic() - began < 5


async def test_node_that_is_gone_is_passed_over_at_once() -> None:
    listener = await asyncio.start_server(lambda reader, writer: None, "127.0.0.1", 0)
    port = listener.sockets[0].getsockname()[1]
    listener.close()
    await listener.wait_closed()
    async with serving(named("b")) as (served, _):
        cluster = Cluster([NodeClient(WeaviateNode("127.0.0.1", port, port), None), *served._clients], patience_s=60)
        began = time.monotonic()
        assert await cluster.ask(search, within_s=30) == ["b"]
        assert await cluster.tell(search, within_s=30) == "b"
        assert time.monotonic() - began < 5
        await cluster.close()


async def test_node_that_breaks_off_is_passed_over() -> None:
    async def break_off(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(1)
        writer.close()

    listener = await asyncio.start_server(break_off, "127.0.0.1", 0)
    port = listener.sockets[0].getsockname()[1]
    async with listener, serving(named("b")) as (served, _):
        cluster = Cluster([NodeClient(WeaviateNode("127.0.0.1", port, port), None), *served._clients], patience_s=60)
        assert await cluster.ask(search, within_s=30) == ["b"]
        await cluster.close()


async def test_silent_node_is_not_waited_for_and_its_call_is_cancelled() -> None:
    async with serving(silent, named("b"), patience_s=0.05) as (cluster, [silent_node, _]):
        assert await cluster.ask(search, within_s=30) == ["b"]
        async with asyncio.timeout(10):
            await silent_node.cancelled.wait()
        assert own_tasks() == set()


async def test_node_that_was_silent_is_asked_last_for_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(weaviate_cluster, "_AVOID_S", 600.0)
    async with serving(silent, named("b"), patience_s=0.05) as (cluster, [silent_node, _]):
        for _ in range(4):
            assert await cluster.ask(search, within_s=30) == ["b"]
        assert silent_node.began == 1


async def test_nothing_is_asked_twice_while_answers_come() -> None:
    async with serving(named("a"), named("b")) as (cluster, nodes):
        for _ in range(4):
            await cluster.ask(search, within_s=5)
        assert [node.began for node in nodes] == [2, 2]


async def test_too_few_nodes_are_no_answer() -> None:
    async with serving(named("a"), failing(grpc.StatusCode.UNAVAILABLE), named("c")) as (cluster, _):
        assert sorted(await cluster.ask(search, within_s=5, answers=2)) == ["a", "c"]
        with pytest.raises(DependencyUnavailable):
            await cluster.ask(search, within_s=5, answers=3)
        assert own_tasks() == set()


async def test_time_is_over_when_no_node_answers() -> None:
    async with serving(silent, silent) as (cluster, _):
        for ask in (cluster.ask(search, within_s=0.5), cluster.tell(search, within_s=0.5)):
            with pytest.raises(DependencyUnavailable):
                await ask
        assert own_tasks() == set()


async def test_caller_that_goes_away_leaves_no_call() -> None:
    async with serving(silent, silent) as (cluster, nodes):
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.05):
                await cluster.ask(search, within_s=30, answers=2)
        assert own_tasks() == set()
        async with asyncio.timeout(10):
            for node in nodes:
                if node.began:
                    await node.cancelled.wait()


async def test_refusal_of_every_node_is_told_as_such() -> None:
    async with serving(*[failing(grpc.StatusCode.UNKNOWN, "no such prop")] * 2) as (cluster, nodes):
        with pytest.raises(RequestRefused, match="no such prop"):
            await cluster.ask(search, within_s=5)
        with pytest.raises(RequestRefused, match="no such prop"):
            await cluster.tell(search, within_s=5)
        assert [node.began for node in nodes] == [2, 2]


MISSING = failing(grpc.StatusCode.UNKNOWN, "could not find class X in schema")


async def test_class_that_most_nodes_miss_is_missing() -> None:
    async with serving(MISSING, MISSING, named("c")) as (cluster, _):
        with pytest.raises(ClassMissing):
            await cluster.ask(search, within_s=5, answers=2)
    async with serving(MISSING) as (cluster, _):
        with pytest.raises(ClassMissing):
            await cluster.tell(search, within_s=5)


async def test_node_that_has_not_found_its_classes_yet_is_passed_over() -> None:
    async with serving(MISSING, named("b"), named("c")) as (cluster, _):
        assert sorted(await cluster.ask(search, within_s=5, answers=2)) == ["b", "c"]
        assert await cluster.tell(search, within_s=5) == "b"


async def test_write_that_a_node_keeps_is_given_to_no_other_and_the_next_one_is() -> None:
    async with serving(silent, named("b")) as (cluster, [silent_node, other]):
        with pytest.raises(DependencyUnavailable):
            await cluster.tell(search, within_s=0.2)
        assert (silent_node.began, other.began) == (1, 0)
        assert [await cluster.tell(search, within_s=5) for _ in range(2)] == ["b", "b"]
