"""Asks one service whether it can do its work."""

import grpc
import httpx
from grpc_health.v1 import health_pb2, health_pb2_grpc

_TIMEOUT_S = 1.0


async def is_serving(target: str) -> bool:
    """Whether the gRPC service at `target` (`host:port`) says SERVING; anything else, silence included, is False."""
    async with grpc.aio.insecure_channel(target) as channel:
        try:
            reply = await health_pb2_grpc.HealthStub(channel).Check(health_pb2.HealthCheckRequest(), timeout=_TIMEOUT_S)
        except grpc.aio.AioRpcError:
            return False
    return bool(reply.status == health_pb2.HealthCheckResponse.SERVING)


async def answers_ok(url: str) -> bool:
    """Whether a GET of `url` answers 200."""
    async with httpx.AsyncClient(timeout=_TIMEOUT_S) as client:
        try:
            return (await client.get(url)).status_code == httpx.codes.OK
        except httpx.HTTPError:
            return False
