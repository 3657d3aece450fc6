"""A language model's server on a real socket: it speaks the streaming part of the OpenAI API as a script says."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any, TypeAlias


class Reply:
    """The response to one request, written piece by piece."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer

    async def begin(self) -> None:
        """Send the headers of a stream."""
        await self.send_bytes(
            b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n"
            b"transfer-encoding: chunked\r\nconnection: close\r\n\r\n"
        )

    async def fail(self, status: int) -> None:
        """Send an error instead of a stream."""
        body = json.dumps({"error": {"message": "secret detail of the server"}}).encode()
        head = f"HTTP/1.1 {status} Oops\r\ncontent-type: application/json\r\ncontent-length: {len(body)}\r\n"
        await self.send_bytes(f"{head}connection: close\r\n\r\n".encode() + body)

    async def send_bytes(self, data: bytes) -> None:
        """Send what stands in no protocol."""
        self._writer.write(data)
        await self._writer.drain()

    async def event(self, data: str) -> None:
        """Send one event with `data` as it is."""
        line = f"data: {data}\n\n".encode()
        await self.send_bytes(f"{len(line):x}\r\n".encode() + line + b"\r\n")

    async def chunk(self, **fields: Any) -> None:
        """Send one chunk of a completion."""
        head = {"id": "x", "object": "chat.completion.chunk", "created": 1, "model": "fake"}
        await self.event(json.dumps(head | fields))

    async def text(self, *pieces: str, finish_reason: str | None = None) -> None:
        """Send text, each piece in a chunk of its own; the last one carries the finish reason."""
        for place, piece in enumerate(pieces, start=1):
            finish = finish_reason if place == len(pieces) else None
            await self.chunk(choices=[{"index": 0, "delta": {"content": piece}, "finish_reason": finish}])

    async def end(self, prompt_tokens: int = 12, completion_tokens: int = 3) -> None:
        """Send the usage, which comes in a chunk without choices, and the end of the stream."""
        usage = {"prompt_tokens": prompt_tokens, "completion_tokens": completion_tokens, "total_tokens": 0}
        await self.chunk(choices=[], usage=usage)
        await self.event("[DONE]")
        await self.send_bytes(b"0\r\n\r\n")

    async def caller_gone(self) -> None:
        """Return when the caller has closed the connection."""
        while await self._reader.read(1024):
            pass


Script: TypeAlias = Callable[[Reply], Awaitable[None]]


class FakeLanguageModelServer:
    """Serves `script`, which a test may replace; keeps the bodies and headers of requests."""

    def __init__(self, script: Script) -> None:
        self.script = script
        self.bodies: list[dict[str, Any]] = []
        self.headers: list[Mapping[str, str]] = []
        self.url = ""

    async def handle(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Serve one connection, which has one request."""
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")[1:-2]
            headers = {name.lower(): value.strip() for name, value in (line.split(":", 1) for line in head)}
            self.headers.append(headers)
            self.bodies.append(json.loads(await reader.readexactly(int(headers["content-length"]))))
            await self.script(Reply(reader, writer))
        except (ConnectionError, asyncio.IncompleteReadError):
            pass  # the caller went away
        finally:
            writer.close()


@asynccontextmanager
async def serving_language_model(script: Script) -> AsyncIterator[FakeLanguageModelServer]:
    """The server on a free loopback port; `url` is its address."""
    model = FakeLanguageModelServer(script)
    server = await asyncio.start_server(model.handle, "127.0.0.1", 0)
    model.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    try:
        yield model
    finally:
        server.close()
        await server.wait_closed()
