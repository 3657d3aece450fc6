"""What workers and builders share: they claim a batch under leases, hold those while they work, and look again."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from typing import TypeVar

import structlog

from services.shared.runtime.errors import DependencyUnavailable, PlumblineError

log = structlog.get_logger()

# After the catalog itself failed, the next look at it.
_CATALOG_PAUSE_S = 1.0

_Item = TypeVar("_Item")


class Bell:
    """Wakes a loop before its next look is due."""

    def __init__(self) -> None:
        self._rung = asyncio.Event()

    def ring(self) -> None:
        """Let the loop look at once."""
        self._rung.set()

    def muffle(self) -> None:
        """Forget that it rang, before a look that sees what it rang for."""
        self._rung.clear()

    async def wait(self, at_most_s: float) -> None:
        """Return when it rings, or after so long."""
        try:
            async with asyncio.timeout(at_most_s):
                await self._rung.wait()
        except TimeoutError:
            return


async def repeat(work_on_next: Callable[[], Awaitable[bool]], bell: Bell, *, poll_s: float) -> None:
    """Call `work_on_next` for ever: at once again while it found something, else when the bell rings or after `poll_s`.

    When the catalog does not answer, what was claimed comes back when its lease ends.
    """
    while True:
        bell.muffle()
        try:
            found = await work_on_next()
        except PlumblineError as error:
            log.warning("queue_unavailable", reason=error.message)
            await asyncio.sleep(_CATALOG_PAUSE_S)
            continue
        if not found:
            await bell.wait(poll_s)


@asynccontextmanager
async def held(renew: Callable[[], Awaitable[object]], *, lease_s: float) -> AsyncIterator[None]:
    """Renew leases of `lease_s` in time until the block ends; one that is lost is told by what needs it."""

    async def renew_on() -> None:
        while True:
            await asyncio.sleep(lease_s / 3)
            try:
                await renew()
            except PlumblineError as error:
                log.debug("lease_not_renewed", reason=error.message)

    renewing = asyncio.ensure_future(renew_on())
    try:
        yield
    finally:
        renewing.cancel()
        await asyncio.gather(renewing, return_exceptions=True)


async def until_answered(call: Callable[[], Awaitable[None]]) -> None:
    """Return once the catalog has done it; while it does not answer it is asked again. Raises what it answers."""
    while True:
        try:
            return await call()
        except DependencyUnavailable as error:
            log.warning("catalog_asked_again", reason=error.message)
            await asyncio.sleep(_CATALOG_PAUSE_S)


async def together_or_alone(
    items: Sequence[_Item],
    together: Callable[[Sequence[_Item]], Awaitable[None]],
    alone: Callable[[_Item], Awaitable[None]],
    failed: Callable[[_Item, Exception], Awaitable[None]],
) -> None:
    """Do all items together; when that fails, each alone, so that none fails for another."""
    try:
        await together(items)
    except Exception as error:
        if len(items) == 1:
            await failed(items[0], error)
            return
        for item in items:
            try:
                await alone(item)
            except Exception as own_error:
                await failed(item, own_error)
