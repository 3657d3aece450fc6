"""Responses that go on for a while: server-sent events, and work that ends when the caller goes away."""

import asyncio
from collections.abc import AsyncGenerator, Coroutine
from typing import Any, TypeVar

from fastapi import Request
from pydantic import BaseModel
from sse_starlette import EventSourceResponse, ServerSentEvent

from services.shared.runtime.errors import Cancelled, Internal

# Proxies close connections that are silent for a minute.
_PING_S = 15
# A reader that takes nothing for so long is gone.
_SEND_TIMEOUT_S = 30
# Characters that many readers of lines take for a line's end although events know only CR and LF.
_LINE_BREAKS = {0x85: "\\u0085", 0x2028: "\\u2028", 0x2029: "\\u2029"}

T = TypeVar("T")


def event_stream(events: AsyncGenerator[tuple[str, BaseModel], None]) -> EventSourceResponse:
    """Named events with JSON data; `events` is closed when the caller goes away."""

    async def encoded() -> AsyncGenerator[ServerSentEvent, None]:
        try:
            async for name, data in events:
                yield ServerSentEvent(data.model_dump_json().translate(_LINE_BREAKS), event=name, sep="\n")
        finally:
            await events.aclose()

    return EventSourceResponse(
        encoded(),
        sep="\n",
        ping=_PING_S,
        ping_message_factory=lambda: ServerSentEvent(comment="ping", sep="\n"),
        send_timeout=_SEND_TIMEOUT_S,
    )


async def begun(events: AsyncGenerator[T, None]) -> AsyncGenerator[T, None]:
    """The same events once the first one is there, so that a failure before it can still be a status."""
    try:
        first = await anext(events)
    except StopAsyncIteration:
        raise Internal("a stream ended without any event") from None

    async def all_of_them() -> AsyncGenerator[T, None]:
        try:
            yield first
            async for event in events:
                yield event
        finally:
            await events.aclose()

    return all_of_them()


async def while_connected(request: Request, work: Coroutine[Any, Any, T]) -> T:
    """The result of `work`, which is cancelled when the caller goes away; then Cancelled. The body must be read."""
    working = asyncio.ensure_future(work)
    leaving = asyncio.ensure_future(_left(request))
    try:
        await asyncio.wait((working, leaving), return_when=asyncio.FIRST_COMPLETED)
        if working.done():
            return working.result()
        raise Cancelled("the caller went away")
    finally:
        for task in (working, leaving):
            task.cancel()
        await asyncio.gather(working, leaving, return_exceptions=True)


async def _left(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass
