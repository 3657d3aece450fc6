"""A tiny HTTP server that stands for a gateway: real sockets, and always the same answers."""

import asyncio
import json
import threading
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import contextmanager

EVERY_S = 1.0
STALL_S = 0.2
_ANSWERS = {
    "/v1/search": {"degraded": [], "timings_ms": {"embed": 0.1, "keyword": 0.1, "rank": 0.1, "total": 0.2}},
    "/v1/status": {"ready": True, "model": {"name": "none"}, "generator": {"name": "none"}},
}


@contextmanager
def tiny_gateway(*, stalls: bool = False) -> Iterator[str]:
    """Its URL. With `stalls` it answers nobody for the first 200 ms of every second.

    It has a thread and a loop of its own, so that it and its callers do not wait for each other.
    """
    begun: Future[tuple[str, asyncio.AbstractEventLoop, asyncio.Event]] = Future()

    async def serve() -> None:
        loop, over = asyncio.get_running_loop(), asyncio.Event()
        started = loop.time()

        async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            try:
                while True:
                    path = await _asked_for(reader)
                    if stalls:  # outside a stall the time left of it is negative: no wait
                        await asyncio.sleep(STALL_S - (loop.time() - started) % EVERY_S)
                    writer.write(_response(path))
                    await writer.drain()
            except (ConnectionError, asyncio.IncompleteReadError):
                writer.close()

        async with await asyncio.start_server(answer, "127.0.0.1", 0) as server:
            begun.set_result((f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}", loop, over))
            await over.wait()

    thread = threading.Thread(target=asyncio.run, args=(serve(),))
    thread.start()
    url, loop, over = begun.result()
    try:
        yield url
    finally:
        loop.call_soon_threadsafe(over.set)
        thread.join()


async def _asked_for(reader: asyncio.StreamReader) -> str:
    """The path of the next request, read to its end."""
    head = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
    fields = dict(line.split(": ", 1) for line in head.splitlines()[1:] if line)
    await reader.readexactly(int(fields.get("content-length", 0)))
    return head.split()[1]


def _response(path: str) -> bytes:
    status = "200 OK" if path in _ANSWERS else "404 Not Found"
    body = json.dumps(_ANSWERS.get(path, {})).encode()
    return f"HTTP/1.1 {status}\r\ncontent-type: application/json\r\ncontent-length: {len(body)}\r\n\r\n".encode() + body
