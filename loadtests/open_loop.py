"""The open loop: requests leave when they are due, however slow the answers to earlier ones are.

A closed loop sends the next request when the last one is answered, so a stalled server is asked less just then, and
the wait of everybody who would have come meanwhile is never measured. Here latency counts from the moment at which a
request was due, whatever kept it from leaving.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Iterator

from loadtests.mix import Request
from loadtests.recording import Recording
from loadtests.reply import TIMEOUT, Reply, Times


async def offer(
    due_s: Iterable[float],
    requests: Iterator[Request],
    send: Callable[[Request], Awaitable[Reply]],
    *,
    starts_at: float,
    warm_up_s: float,
    duration_s: float,
) -> Recording:
    """Send one of `requests` at each of `due_s` (seconds from `starts_at`, rising) and wait for all answers.

    `starts_at` is on the event loop's clock. What is due before `warm_up_s` is sent and not recorded; the recorded time
    is the `duration_s` after it. A request is given up when its timeout has passed since it was due.
    """
    loop = asyncio.get_running_loop()
    recording = Recording()

    async def one(offset_s: float, request: Request) -> None:
        intended, started = starts_at + offset_s, loop.time()
        gives_up_at = intended + request.timeout_s
        try:
            async with asyncio.timeout_at(gives_up_at):
                reply = await send(request)
            ended = loop.time()
        except TimeoutError:
            reply, ended = Reply(error=TIMEOUT), gives_up_at
        if reply.error is None and warm_up_s <= ended - starts_at < warm_up_s + duration_s:
            recording.completed += 1
        if offset_s >= warm_up_s:
            recording.count(request, reply, Times(intended, started, ended))

    async with asyncio.TaskGroup() as in_flight:
        for offset_s in due_s:
            # Also when it is late already: the requests before this one must get their turn.
            await asyncio.sleep(max(0.0, starts_at + offset_s - loop.time()))
            in_flight.create_task(one(offset_s, next(requests)))
    return recording
