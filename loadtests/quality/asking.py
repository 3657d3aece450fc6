"""Asks a running stack the judged queries, through its public API."""

import asyncio
from collections.abc import Sequence
from typing import Any

import httpx

from loadtests.quality.judged_set import JudgedSet, Mode
from loadtests.quality.stages import Found, stages_of
from services.local.failure import Failure

# Places that are looked at: the default window, beyond which nothing is ranked.
DEPTH = 100
# An answer that lacks a part says nothing of quality; a busy machine may be slow once, not always.
_TRIES = 3
_PAUSE_S = 2.0


async def get(client: httpx.AsyncClient, path: str, **parameters: str | int) -> dict[str, Any]:
    """The JSON at `path`. Raises Failure."""
    return await _answer(client, client.build_request("GET", path, params=parameters))


async def judgments_of(client: httpx.AsyncClient, collection: str) -> list[dict[str, Any]]:
    """All judged queries of the collection in the order of their ids. Raises Failure when it has none."""
    path, parameters = f"/v1/collections/{collection}/judgments", {"limit": 1000}
    page = await get(client, path, **parameters)
    judged: list[dict[str, Any]] = page["judgments"]
    while page["next"]:
        page = await get(client, path, **parameters, cursor=page["next"])
        judged += page["judgments"]
    if not judged:
        raise Failure(f"collection {collection} has no judged queries; put some to {path}")
    return judged


async def stages_of_query(
    client: httpx.AsyncClient, judged: JudgedSet, judgment: dict[str, Any]
) -> dict[str, list[Found]]:
    """What every stage makes of one judged query. Raises Failure."""
    stages: dict[str, list[Found]] = {}
    for mode in judged.modes:
        stages |= stages_of(mode, await _hits(client, judged, judgment, mode), attribute=judged.attribute)
    return stages


async def _hits(
    client: httpx.AsyncClient, judged: JudgedSet, judgment: dict[str, Any], mode: Mode
) -> Sequence[dict[str, Any]]:
    body = {
        "collection": judged.collection,
        "query": judgment["query"],
        "locale": judgment["locale"],
        "filter": judgment["filter"] if judged.filtered else None,
        "mode": mode,
        "limit": DEPTH,
        "explain": True,
        "ranking": {"clock_date": judged.clock},
    }
    for _ in range(_TRIES):
        page = await _answer(client, client.build_request("POST", "/v1/search", json=body))
        if not page["degraded"]:
            hits: list[dict[str, Any]] = page["hits"]
            return hits
        await asyncio.sleep(_PAUSE_S)
    parts = ", ".join(page["degraded"])
    raise Failure(f"{judged.name}: query {judgment['id']} was answered {_TRIES} times without {parts}")


async def _answer(client: httpx.AsyncClient, request: httpx.Request) -> dict[str, Any]:
    try:
        response = await client.send(request)
    except httpx.HTTPError as error:
        raise Failure(f"nothing answers at {client.base_url}: {error or type(error).__name__}") from error
    if response.is_error:
        raise Failure(
            f"{request.method} {request.url.path} was answered with {response.status_code}: {response.text[:300]}"
        )
    answer: dict[str, Any] = response.json()
    return answer
