"""The nodes of a Weaviate: which one is asked, when the next one is, and what its failures mean.

Calls go over the stubs of weaviate-client, not its query methods: those sleep a second before they report a node that
refuses, keep no status code, and give vectors as lists of floats (see docs/decisions/weaviate-calls.md).
"""

import asyncio
import contextlib
import itertools
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, TypeVar

import grpc
import httpx
from weaviate.proto.v1 import (
    aggregate_pb2,
    batch_delete_pb2,
    batch_pb2,
    search_get_pb2,
    weaviate_pb2_grpc,
)

from services.shared.index.weaviate_node import WeaviateNode
from services.shared.runtime.errors import DependencyUnavailable

# The server's own limit on a message.
_MESSAGE_BYTES = 104_858_000
_CHANNEL_OPTIONS = (
    ("grpc.max_send_message_length", _MESSAGE_BYTES),
    ("grpc.max_receive_message_length", _MESSAGE_BYTES),
    ("grpc.enable_http_proxy", 0),
    # A node that comes back is seen within a second; gRPC would wait up to two minutes.
    ("grpc.initial_reconnect_backoff_ms", 100),
    ("grpc.max_reconnect_backoff_ms", 1_000),
)
# A leg takes 40 to 90 ms at the 95th percentile; the next node is asked too when one is silent for so long.
_PATIENCE_S = 0.3
# So long a node that failed is asked last.
_AVOID_S = 5.0
# What a status means: these say that the node is at fault, any other that it does not like the request.
_NODE_CODES = (
    grpc.StatusCode.UNAVAILABLE,
    grpc.StatusCode.DEADLINE_EXCEEDED,
    grpc.StatusCode.CANCELLED,
    grpc.StatusCode.RESOURCE_EXHAUSTED,
)
_NO_CLASS = "could not find class"
# A leader answers in milliseconds.
_LEADER_S = 2.0
_LEADER_POLL_S = 0.2
_NOBODYS_CLASS = "Nobodys"

_Answer = TypeVar("_Answer")


class NodeFailed(Exception):
    """The node does not answer, or says that it cannot now."""


class NodeBroken(NodeFailed):
    """The node answers, with an error of its own."""


class LeaderSilent(NodeFailed):
    """The node does not hear from the leader of the nodes, which agrees on their classes."""


class RequestRefused(Exception):
    """The node answered that it cannot do this; the message is Weaviate's and may hold stored values."""


class ClassMissing(Exception):
    """The node has no such class."""


class NodeClient:
    """One node's gRPC and HTTP interfaces. Every method may raise NodeFailed and RequestRefused."""

    def __init__(self, node: WeaviateNode, api_key: str | None) -> None:
        host = f"[{node.host}]" if ":" in node.host else node.host
        bearer = {"authorization": f"Bearer {api_key}"} if api_key else {}
        self._metadata = tuple(bearer.items())
        self._channel = grpc.aio.insecure_channel(f"{host}:{node.grpc_port}", options=_CHANNEL_OPTIONS)
        self._stub = weaviate_pb2_grpc.WeaviateStub(self._channel)  # type: ignore[no-untyped-call]  # generated
        # The callers' limits hold; of httpx's own only one would come before them.
        self._http = httpx.AsyncClient(
            base_url=f"http://{host}:{node.http_port}/v1", headers=bearer, timeout=None, trust_env=False
        )

    async def search(self, request: search_get_pb2.SearchRequest) -> search_get_pb2.SearchReply:
        """The reply. Raises ClassMissing."""
        reply: search_get_pb2.SearchReply = await self._call(self._stub.Search(request, metadata=self._metadata))
        return reply

    async def aggregate(self, request: aggregate_pb2.AggregateRequest) -> aggregate_pb2.AggregateReply:
        """The reply. Raises ClassMissing."""
        reply: aggregate_pb2.AggregateReply = await self._call(self._stub.Aggregate(request, metadata=self._metadata))
        return reply

    async def write(self, request: batch_pb2.BatchObjectsRequest) -> batch_pb2.BatchObjectsReply:
        """The reply, with an error for every object that was not written."""
        reply: batch_pb2.BatchObjectsReply = await self._call(self._stub.BatchObjects(request, metadata=self._metadata))
        return reply

    async def delete(self, request: batch_delete_pb2.BatchDeleteRequest) -> batch_delete_pb2.BatchDeleteReply:
        """The reply, which counts the objects that are still there."""
        reply: batch_delete_pb2.BatchDeleteReply = await self._call(
            self._stub.BatchDelete(request, metadata=self._metadata)
        )
        return reply

    async def rest(
        self,
        method: str,
        path: str,
        *,
        json: Any = None,
        params: dict[str, str] | None = None,
        headers: dict[str, str] | None = None,
    ) -> Any:
        """The decoded body, None when it is empty. Raises ClassMissing when the path leads nowhere."""
        try:
            response = await self._http.request(method, path, json=json, params=params, headers=headers)
        except httpx.HTTPError as error:
            raise NodeFailed from error
        if response.status_code == httpx.codes.NOT_FOUND:
            raise ClassMissing
        if response.is_server_error:
            raise NodeBroken(f"status {response.status_code}")
        if response.is_error:
            raise RequestRefused(response.text)
        return response.json() if response.content else None

    async def close(self) -> None:
        """Let go of the connections."""
        await self._http.aclose()
        await self._channel.close()

    async def _call(self, call: Awaitable[Any]) -> Any:
        try:
            return await call
        except grpc.aio.AioRpcError as error:
            details = error.details() or ""
            if error.code() in _NODE_CODES:
                raise NodeFailed(details) from error
            raise (ClassMissing if _NO_CLASS in details else RequestRefused)(details) from error


class Cluster:
    """Asks the nodes of one Weaviate, each by a client of its own."""

    def __init__(self, clients: Sequence[NodeClient], *, patience_s: float = _PATIENCE_S) -> None:
        self._clients = tuple(clients)
        self._patience_s = patience_s
        self._turn = itertools.count()
        self._avoided_until = dict.fromkeys(self._clients, 0.0)

    async def ask(
        self, read: Callable[[NodeClient], Awaitable[_Answer]], *, within_s: float, answers: int = 1
    ) -> list[_Answer]:
        """What the first `answers` nodes say that do answer; a further node is asked when one fails or is silent.

        No call is left running when this returns or raises. A node that has just come back serves before it knows its
        classes again (for about a second): so one that misses a class counts as one that refuses.

        Raises:
            ClassMissing: a majority of the nodes says so.
            RequestRefused: so many nodes refused or failed that `answers` cannot be had, and one of them refused.
            DependencyUnavailable: so many failed, or the time is over.
        """
        waiting = self._in_turn()
        asked: dict[asyncio.Task[_Answer], NodeClient] = {}
        silent: set[NodeClient] = set()
        given: list[_Answer] = []
        refusal: RequestRefused | None = None
        missing = 0

        def ask_next() -> None:
            if waiting:
                client = waiting.pop(0)
                asked[asyncio.create_task(_begun(read, client))] = client

        try:
            async with asyncio.timeout(within_s):
                for _ in range(answers):
                    ask_next()
                while len(given) < answers:
                    if missing > len(self._clients) // 2:
                        raise ClassMissing
                    if len(asked) + len(given) < answers:
                        raise refusal or DependencyUnavailable("Too few nodes of the index answer.")
                    done, _ = await asyncio.wait(
                        asked, timeout=self._patience_s if waiting else None, return_when=asyncio.FIRST_COMPLETED
                    )
                    if not done:
                        silent.update(asked.values())
                        ask_next()
                    for task in done:
                        client = asked.pop(task)
                        try:
                            given.append(task.result())
                        except NodeFailed:
                            self._avoid(client)
                            ask_next()
                        except ClassMissing:
                            missing += 1
                            ask_next()
                        except RequestRefused as refused:
                            refusal = refused
                            ask_next()
                for client in silent.intersection(asked.values()):
                    self._avoid(client)
                return given[:answers]
        except TimeoutError:
            raise DependencyUnavailable(f"The index did not answer within {within_s:.0f} s.") from None
        finally:
            for task in asked:
                task.cancel()
            await asyncio.gather(*asked, return_exceptions=True)

    async def tell(
        self, write: Callable[[NodeClient], Awaitable[_Answer]], *, within_s: float, led: bool = False
    ) -> _Answer:
        """What the first node says that answers; the next one is told when one fails, not when one is silent.

        With `led`, a node is told only when it hears from the nodes' leader, which is waited for: 8 to 12 s when it was
        killed. Weaviate 1.39 asks the leader for the class of what it is to write, and has no limit to that.

        A node does what it was given even when its caller has left: given to another meanwhile, a write came once more
        26 s later, on top of what was written and deleted in between. So a node that stays silent costs its caller
        `within_s`, and is asked last from then on. Raises as `ask`.
        """
        try:
            async with asyncio.timeout(within_s):
                while True:
                    refusal: RequestRefused | None = None
                    missing, awaits_leader = 0, False
                    for client in self._in_turn():
                        try:
                            if led and len(self._clients) > 1:
                                await _hear_from_leader(client)
                            return await _outcome(write, client)
                        except LeaderSilent:
                            awaits_leader = True
                        except NodeFailed:
                            self._avoid(client)
                        except ClassMissing:
                            if (missing := missing + 1) > len(self._clients) // 2:
                                raise
                        except RequestRefused as refused:
                            refusal = refused
                    if not awaits_leader:
                        raise refusal or DependencyUnavailable("No node of the index answers.")
                    await asyncio.sleep(_LEADER_POLL_S)
        except TimeoutError:
            self._avoid(client)
            raise DependencyUnavailable(f"The index did not answer within {within_s:.0f} s.") from None

    async def close(self) -> None:
        """Let go of all connections."""
        for client in self._clients:
            await client.close()

    def _in_turn(self) -> list[NodeClient]:
        """All nodes, each first in its turn; those that failed a moment ago stand last."""
        first = next(self._turn) % len(self._clients)
        now = asyncio.get_running_loop().time()
        return sorted(
            (*self._clients[first:], *self._clients[:first]), key=lambda client: self._avoided_until[client] > now
        )

    def _avoid(self, client: NodeClient) -> None:
        self._avoided_until[client] = asyncio.get_running_loop().time() + _AVOID_S


async def _hear_from_leader(client: NodeClient) -> None:
    """Return when the leader answered the node. Raises NodeFailed, and LeaderSilent after two seconds at most."""
    try:
        async with asyncio.timeout(_LEADER_S):
            await client.rest("GET", f"/schema/{_NOBODYS_CLASS}")
    except (TimeoutError, NodeBroken):
        raise LeaderSilent from None
    except (ClassMissing, RequestRefused):
        return


async def _outcome(write: Callable[[NodeClient], Awaitable[_Answer]], client: NodeClient) -> _Answer:
    """What a node answers to a write, also one that lost its leader just then.

    When another node has become the leader, a later question ends the wait for the old one: the write is refused, and
    not done.
    """
    writing = asyncio.create_task(_begun(write, client))
    try:
        while not (await asyncio.wait([writing], timeout=_LEADER_S))[0]:
            with contextlib.suppress(NodeFailed):
                await _hear_from_leader(client)
        return writing.result()
    finally:
        writing.cancel()
        await asyncio.gather(writing, return_exceptions=True)


async def _begun(read: Callable[[NodeClient], Awaitable[_Answer]], client: NodeClient) -> _Answer:
    return await read(client)
