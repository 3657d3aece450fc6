import asyncio
from collections.abc import AsyncGenerator

import pytest
from fastapi import Request

from services.gateway.streaming import begun, while_connected
from services.shared.runtime.errors import Cancelled, Internal, NotFound


class Events:
    """A stream that tells whether it was closed."""

    def __init__(self, *events: str | Exception) -> None:
        self.is_closed = False
        self._events = events

    async def stream(self) -> AsyncGenerator[str, None]:
        try:
            for event in self._events:
                if isinstance(event, Exception):
                    raise event
                yield event
        finally:
            self.is_closed = True


def request(leaving: asyncio.Event) -> Request:
    async def receive() -> dict[str, str]:
        await leaving.wait()
        return {"type": "http.disconnect"}

    return Request({"type": "http", "method": "GET", "headers": []}, receive)


async def test_begun_gives_every_event_once() -> None:
    assert [event async for event in await begun(Events("a", "b", "c").stream())] == ["a", "b", "c"]


async def test_a_failure_before_the_first_event_is_raised_at_once() -> None:
    with pytest.raises(NotFound):
        await begun(Events(NotFound("none")).stream())


async def test_a_stream_without_events_is_a_fault() -> None:
    with pytest.raises(Internal):
        await begun(Events().stream())


async def test_closing_what_has_begun_closes_the_stream() -> None:
    events = Events("a", "b")
    stream = await begun(events.stream())
    await anext(stream)
    await stream.aclose()
    assert events.is_closed


async def test_work_is_done_while_the_caller_stays() -> None:
    async def work() -> str:
        return "done"

    assert await while_connected(request(asyncio.Event()), work()) == "done"


async def test_an_error_of_the_work_is_raised() -> None:
    async def work() -> str:
        raise NotFound("none")

    with pytest.raises(NotFound):
        await while_connected(request(asyncio.Event()), work())


async def test_work_is_cancelled_when_the_caller_leaves() -> None:
    leaving, ended = asyncio.Event(), asyncio.Event()

    async def work() -> None:
        try:
            leaving.set()
            await asyncio.Event().wait()
        finally:
            ended.set()

    with pytest.raises(Cancelled):
        await while_connected(request(leaving), work())
    assert ended.is_set()
