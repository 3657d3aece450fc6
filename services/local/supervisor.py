"""Runs a set of services until a signal: all start together, each is kept running, and none is left behind."""

import asyncio
import signal
from collections.abc import Awaitable, Callable, Sequence

from services.local.service_process import ServiceProcess

# Longer than the time that services give to the calls they are serving.
_STOP_GRACE_S = 10.0


async def supervise(services: Sequence[ServiceProcess], when_ready: Callable[[], Awaitable[None]]) -> None:
    """Run `services` until SIGINT or SIGTERM; `when_ready` is called once, when all of them are ready.

    They are stopped one after the other from the last to the first; a second signal kills what is left. Raises
    Failure, with all of them stopped, when one does not start.
    """
    stopping = asyncio.Event()

    def on_signal() -> None:
        if stopping.is_set():
            for service in services:
                service.kill()
        stopping.set()

    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, on_signal)

    async def until_signal() -> None:
        await asyncio.gather(*(service.ready.wait() for service in services))
        await when_ready()
        await stopping.wait()

    tasks: list[asyncio.Future[object]] = [asyncio.ensure_future(service.live()) for service in services]
    tasks += [asyncio.ensure_future(until_signal()), asyncio.ensure_future(stopping.wait())]
    try:
        done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        for service in reversed(services):
            await service.stop(_STOP_GRACE_S)
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.remove_signal_handler(number)
    for task in done:
        task.result()
