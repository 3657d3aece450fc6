"""Sends requests to the gateway, as a program that uses its API does."""

import asyncio
import json
from collections.abc import AsyncIterator, Sequence
from typing import Any

import httpx

from loadtests.mix import Request
from loadtests.reply import Reply

# Shorter than the gateway keeps a silent connection, so that none is used that is just being closed.
_KEEP_S = 2.0


class HttpSender:
    """One caller with as many connections as there are requests in flight; `scratch` is where writes go."""

    def __init__(self, url: str, scratch: str | None = None) -> None:
        self._scratch = scratch
        self._clock = asyncio.get_running_loop().time
        # A pool with a bound would let requests wait inside the generator; a proxy would be another target.
        limits = httpx.Limits(max_connections=None, max_keepalive_connections=None, keepalive_expiry=_KEEP_S)
        self._client = httpx.AsyncClient(base_url=url, timeout=None, limits=limits, trust_env=False)

    async def send(self, request: Request) -> Reply:
        """The reply to one request; a failure is a reply too, only cancellation is not."""
        try:
            match request.call:
                case "answer":
                    return await self._answer(request)
                case "write":
                    return await self._write(request)
                case _:
                    response = await self._client.post("/v1/search", json=request.body)
                    return _refused(response) or _whole(response.json())
        except httpx.HTTPError:
            return Reply(error="connection")

    async def _answer(self, request: Request) -> Reply:
        tokens_at: list[float] = []
        async with self._client.stream("POST", "/v1/answers", json=request.body) as response:
            if refused := _refused(response):
                return refused
            async for name, data in _events(response):
                match name:
                    case "delta":
                        tokens_at.append(self._clock())
                    case "done":
                        return _whole(json.loads(data), tokens_at)
                    case "error":
                        return Reply(error=f"event {json.loads(data)['status']}")
        return Reply(error="cut off")

    async def _write(self, request: Request) -> Reply:
        """A write is whole when it can be found; the moment when it was durable is `accepted`."""
        response = await self._client.put(f"/v1/collections/{self._scratch}/documents", json=request.body)
        if refused := _refused(response):
            return refused
        accepted_at = self._clock()
        async with self._client.stream("GET", f"/v1/jobs/{response.json()['job_id']}/events") as job:
            if refused := _refused(job):
                return refused
            async for name, data in _events(job):
                if name == "done":
                    state = json.loads(data)["state"]
                    return Reply(
                        error=None if state == "succeeded" else f"job {state}", moments={"accepted": accepted_at}
                    )
        return Reply(error="cut off")

    async def close(self) -> None:
        """Close all connections."""
        await self._client.aclose()


def _refused(response: httpx.Response) -> Reply | None:
    return Reply(error=f"http {response.status_code}") if response.is_error else None


def _whole(body: dict[str, Any], tokens_at: Sequence[float] = ()) -> Reply:
    return Reply(degraded=body["degraded"], stages_ms=body["timings_ms"], tokens_at=tokens_at)


async def _events(response: httpx.Response) -> AsyncIterator[tuple[str, str]]:
    """Name and data of each server-sent event; the gateway puts the data of an event on one line."""
    event = ""
    async for line in response.aiter_lines():
        field, _, value = line.partition(": ")
        if field == "event":
            event = value
        elif field == "data":
            yield event, value
