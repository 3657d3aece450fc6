import asyncio

import grpc
from grpc_health.v1 import health, health_pb2, health_pb2_grpc

from services.local.loopback import free_ports
from services.local.readiness import answers_ok, is_serving


async def test_a_grpc_service_is_ready_when_its_health_says_serving() -> None:
    server, servicer = grpc.aio.server(), health.aio.HealthServicer()
    health_pb2_grpc.add_HealthServicer_to_server(servicer, server)
    target = f"127.0.0.1:{server.add_insecure_port('127.0.0.1:0')}"
    await server.start()
    try:
        await servicer.set("", health_pb2.HealthCheckResponse.NOT_SERVING)
        assert not await is_serving(target)
        await servicer.set("", health_pb2.HealthCheckResponse.SERVING)
        assert await is_serving(target)
    finally:
        await server.stop(None)


async def test_what_does_not_listen_is_not_ready() -> None:
    port = free_ports(1)[0]
    assert not await is_serving(f"127.0.0.1:{port}")
    assert not await answers_ok(f"http://127.0.0.1:{port}/readyz")


async def test_an_http_service_is_ready_when_it_answers_200() -> None:
    replies = [b"HTTP/1.1 503 Service Unavailable", b"HTTP/1.1 200 OK"]

    async def reply(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(replies.pop(0) + b"\r\ncontent-length: 0\r\nconnection: close\r\n\r\n")
        await writer.drain()
        writer.close()

    async with await asyncio.start_server(reply, "127.0.0.1", 0) as server:
        url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/readyz"
        assert not await answers_ok(url)
        assert await answers_ok(url)
