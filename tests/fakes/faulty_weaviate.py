"""A gRPC server before a real Weaviate node that holds back or refuses the queries of one leg."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager

import grpc
from weaviate.proto.v1 import aggregate_pb2, search_get_pb2, weaviate_pb2_grpc

from services.shared.index.weaviate_node import WeaviateNode
from tests.fakes.faulty_peers import LOOPBACK


class FaultyWeaviate(weaviate_pb2_grpc.WeaviateServicer):
    """Passes every query on, unless `faults` names its leg: `keyword` or `vector`, which `stalls` or `refuses`.

    `in_flight` counts the queries that it serves at the moment.
    """

    def __init__(self, stub: weaviate_pb2_grpc.WeaviateStub) -> None:
        self._stub = stub
        self.faults: dict[str, str] = {}
        self.in_flight = 0

    async def Search(
        self, request: search_get_pb2.SearchRequest, context: grpc.aio.ServicerContext
    ) -> search_get_pb2.SearchReply:
        leg = "keyword" if request.HasField("bm25_search") else "vector" if request.HasField("near_vector") else ""
        with self._served():
            match self.faults.get(leg):
                case "stalls":
                    await asyncio.Event().wait()
                case "refuses":
                    await context.abort(grpc.StatusCode.UNAVAILABLE, "shard is loading")
            return await self._stub.Search(request, metadata=_key(context))

    async def Aggregate(
        self, request: aggregate_pb2.AggregateRequest, context: grpc.aio.ServicerContext
    ) -> aggregate_pb2.AggregateReply:
        return await self._stub.Aggregate(request, metadata=_key(context))

    @contextmanager
    def _served(self) -> Iterator[None]:
        self.in_flight += 1
        try:
            yield
        finally:
            self.in_flight -= 1


def _key(context: grpc.aio.ServicerContext) -> tuple[tuple[str, str | bytes], ...]:
    return tuple((name, value) for name, value in context.invocation_metadata() or () if name == "authorization")


@asynccontextmanager
async def before(node: WeaviateNode) -> AsyncIterator[tuple[FaultyWeaviate, str]]:
    """The server before this node, and its address."""
    async with grpc.aio.insecure_channel(f"{node.host}:{node.grpc_port}") as channel:
        faulty = FaultyWeaviate(weaviate_pb2_grpc.WeaviateStub(channel))
        server = grpc.aio.server()
        weaviate_pb2_grpc.add_WeaviateServicer_to_server(faulty, server)
        port = server.add_insecure_port(f"{LOOPBACK}:0")
        await server.start()
        try:
            yield faulty, f"{LOOPBACK}:{port}"
        finally:
            await server.stop(0)
