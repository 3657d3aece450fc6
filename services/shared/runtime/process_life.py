"""The life of a serving process: start, serve until a signal comes or serving ends by itself, stop in order."""

import asyncio
import signal
from typing import Protocol

import structlog

log = structlog.get_logger()


class Server(Protocol):
    """What lives in the process."""

    async def start(self) -> None:
        """Listen. Raises SystemExit with one sentence when that cannot be."""

    async def serve(self) -> None:
        """Become ready and serve until cancelled; returning or raising earlier is a failure."""

    async def stop(self) -> None:
        """Finish what runs, close, flush."""


async def live(server: Server) -> int:
    """Run `server` until SIGTERM or SIGINT; the exit code is 0 after a signal, 1 when serving ended by itself."""
    stopping = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stopping.set)
    await server.start()
    serving = asyncio.ensure_future(_served(server))
    asked = asyncio.ensure_future(stopping.wait())
    await asyncio.wait([serving, asked], return_when=asyncio.FIRST_COMPLETED)
    asked.cancel()
    log.info("draining")
    serving.cancel()
    (ended,) = await asyncio.gather(serving, return_exceptions=True)
    await server.stop()
    if isinstance(ended, asyncio.CancelledError):
        return 0
    if isinstance(ended, SystemExit):
        raise ended
    log.error("ended_by_itself", reason=repr(ended))
    return 1


async def _served(server: Server) -> SystemExit | None:
    """What `serve` left with, as a value: a task that raises SystemExit ends the loop before anything is closed."""
    try:
        await server.serve()
    except SystemExit as refusal:
        return refusal
    return None
