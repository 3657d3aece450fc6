"""Addresses at which nobody serves properly, and a wire to a real server that stalls or breaks on demand."""

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

import grpc

LOOPBACK = "127.0.0.1"
# HTTP/2: 3 bytes of length, one of type (0 is DATA), flags, and the stream.
_FRAME_HEAD = 9
_DATA = 0


@asynccontextmanager
async def refusing() -> AsyncIterator[str]:
    """An address that refuses connections: the port is taken, but nobody listens."""
    with socket.socket() as taken:
        taken.bind((LOOPBACK, 0))
        yield f"{LOOPBACK}:{taken.getsockname()[1]}"


@asynccontextmanager
async def dropping() -> AsyncIterator[str]:
    """An address that accepts a connection, reads a little and closes it."""

    async def drop(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(1)
        writer.close()

    server = await asyncio.start_server(drop, LOOPBACK, 0)
    async with server:
        yield f"{LOOPBACK}:{server.sockets[0].getsockname()[1]}"


@asynccontextmanager
async def garbling() -> AsyncIterator[str]:
    """A gRPC server that answers every call at once with bytes that are no message."""

    class AnyMethod(grpc.GenericRpcHandler):
        def service(self, handler_call_details: grpc.HandlerCallDetails) -> grpc.RpcMethodHandler:
            return grpc.unary_unary_rpc_method_handler(_garbage)

    server = grpc.aio.server(handlers=[AnyMethod()])
    port = server.add_insecure_port(f"{LOOPBACK}:0")
    await server.start()
    try:
        yield f"{LOOPBACK}:{port}"
    finally:
        await server.stop(0)


async def _garbage(_: bytes, __: grpc.aio.ServicerContext) -> bytes:
    return b"\xff" * 16


class Wire:
    """Every byte between `target` and a real server, unless `fault` says otherwise.

    `stalls`: bytes are held back in both directions until the fault is over. `cuts`: a connection ends in the middle of
    the next message that the server sends, `cuts once`: and the one after it does not. `cut` counts the cuts.
    """

    def __init__(self) -> None:
        self.target = ""
        self.cut = 0
        self._fault = ""
        self._flowing = asyncio.Event()
        self._flowing.set()

    @property
    def fault(self) -> str:
        return self._fault

    @fault.setter
    def fault(self, fault: str) -> None:
        self._fault = fault
        if fault == "stalls":
            self._flowing.clear()
        else:
            self._flowing.set()

    async def there(self, source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
        """Carry what a caller sends."""
        while data := await source.read(65_536):
            await self._flowing.wait()
            sink.write(data)
            await sink.drain()

    async def back(self, source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
        """Carry what the server sends, frame by frame, so that a cut comes inside a message."""
        while True:
            head = await source.readexactly(_FRAME_HEAD)
            payload = await source.readexactly(int.from_bytes(head[:3]))
            await self._flowing.wait()
            if self._fault.startswith("cuts") and head[3] == _DATA and payload:
                self.cut += 1
                if self._fault == "cuts once":
                    self._fault = ""
                sink.write(head + payload[: len(payload) // 2])
                await sink.drain()
                return
            sink.write(head + payload)
            await sink.drain()


@asynccontextmanager
async def wire_to(target: str) -> AsyncIterator[Wire]:
    """A wire to the gRPC server at `target`."""
    wire, host, port = Wire(), *target.split(":")
    open_: set[asyncio.Task[None]] = set()

    async def carry(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        from_server, to_server = await asyncio.open_connection(host, int(port))
        ways = [
            asyncio.ensure_future(wire.there(reader, to_server)),
            asyncio.ensure_future(wire.back(from_server, writer)),
        ]
        open_.update(ways)
        try:
            await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for way in ways:
                way.cancel()
            await asyncio.gather(*ways, return_exceptions=True)
            open_.difference_update(ways)
            for end in (writer, to_server):
                with suppress(OSError):
                    end.close()

    server = await asyncio.start_server(carry, LOOPBACK, 0)
    async with server:
        wire.target = f"{LOOPBACK}:{server.sockets[0].getsockname()[1]}"
        try:
            yield wire
        finally:
            wire.fault = ""
            for way in open_:
                way.cancel()
            server.close()
