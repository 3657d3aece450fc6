"""Brings a sample collection into a running gateway through its public API, with a progress bar."""

import asyncio
import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import httpx

from services.local.failure import Failure
from services.local.progress import ProgressLine
from services.local.sample_collections import Document, SampleCollection

# Documents in one request: small enough for a bar that moves, large enough that requests cost nothing.
_BATCH = 50
_JUDGMENTS_BATCH = 1000  # the most that the gateway takes
_POLL_S = 0.2
_RUNNING = ("queued", "running")


def gateway_client(url: str) -> httpx.AsyncClient:
    """A client of the gateway at `url`; a write waits until it is durable, which takes long on a busy disk."""
    return httpx.AsyncClient(base_url=url, timeout=60.0)


async def ensure_collection(client: httpx.AsyncClient, sample: SampleCollection, marks: Path) -> None:
    """Create `sample` and put its documents and judgments, unless just these were put before.

    `marks` is a folder where a digest of what was put is kept, one file a collection: an upload that was cut short, or
    one that has changed since, is put again, which embeds only what is new. Raises Failure.
    """
    documents, judgments = sample.documents(), sample.judgments()
    content = json.dumps([sample.creation(), documents, judgments], sort_keys=True)
    digest = hashlib.sha256(content.encode()).hexdigest()
    mark = marks / sample.name
    exists = await _exists(client, sample.name)
    if exists and mark.is_file() and mark.read_text() == digest:
        return
    if not exists:
        await _call(client, "POST", "/v1/collections", sample.creation())
    await _put(client, sample.name, documents)
    for start in range(0, len(judgments), _JUDGMENTS_BATCH):
        batch = judgments[start : start + _JUDGMENTS_BATCH]
        await _call(client, "PUT", f"/v1/collections/{sample.name}/judgments", {"judgments": batch})
    marks.mkdir(parents=True, exist_ok=True)
    mark.write_text(digest)


async def _put(client: httpx.AsyncClient, name: str, documents: Sequence[Document]) -> None:
    progress = ProgressLine(f"sample {name:<16}", len(documents), "documents")
    failed = 0
    for start in range(0, len(documents), _BATCH):
        batch = documents[start : start + _BATCH]
        accepted = await _call(client, "PUT", f"/v1/collections/{name}/documents", {"documents": batch})
        job: dict[str, Any] = {"state": "queued", "done": 0}
        while job["state"] in _RUNNING:
            job = await _call(client, "GET", f"/v1/jobs/{accepted['job_id']}")
            progress.show(start + job["done"])
            if job["state"] in _RUNNING:
                await asyncio.sleep(_POLL_S)
        failed += len(job["failures"])
    progress.finish(f", {failed} failed" if failed else "")


async def _exists(client: httpx.AsyncClient, name: str) -> bool:
    try:
        response = await client.get(f"/v1/collections/{name}")
    except httpx.HTTPError as error:
        raise Failure(_unreachable(client)) from error
    return response.status_code == httpx.codes.OK


async def _call(client: httpx.AsyncClient, method: str, path: str, body: object = None) -> dict[str, Any]:
    try:
        response = await client.request(method, path, json=body)
    except httpx.HTTPError as error:
        raise Failure(_unreachable(client)) from error
    if response.is_error:
        raise Failure(f"{method} {path} was answered with {response.status_code}: {response.text[:300]}")
    answer: dict[str, Any] = response.json() if response.content else {}
    return answer


def _unreachable(client: httpx.AsyncClient) -> str:
    return f"there is no gateway at {client.base_url}; start it with `make run`, or name its port with PORT="
