"""The stack under load: one that runs already, or one of the run's own on fresh data."""

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import httpx

from loadtests.mix import Mix
from loadtests.report import Stack
from services.local.collection_upload import ensure_collection, gateway_client
from services.local.environment import LOOPBACK
from services.local.failure import Failure
from services.local.index_engine import weaviate_program
from services.local.loopback import free_ports
from services.local.sample_collections import PAPERS, SAMPLES
from services.local.service_process import ServiceProcess, ServiceSpec
from services.local.settings import read_settings

_STOP_GRACE_S = 60.0


@dataclass(frozen=True, slots=True)
class Address:
    """Where a stack is: the gateway's URL, and `host:port` of its services, as far as they are known."""

    url: str
    targets: Mapping[str, str]


@asynccontextmanager
async def own_stack(mix: Mix, index: str) -> AsyncIterator[Address]:
    """A `make run` on free ports and fresh data and this engine, with the samples that the mix names.

    It ends with the block, and with this process however that one ends. Raises Failure.
    """
    if index == "weaviate":  # which may take longer to fetch than a stack may take to start
        await asyncio.to_thread(weaviate_program, read_settings(), _report)
    with TemporaryDirectory(prefix="plumbline-load-") as folder:
        data, (port,) = Path(folder), free_ports(1)
        url = f"http://{LOOPBACK}:{port}"
        knobs = {"PORT": str(port), "DATA": folder, "INDEX": index, "SAMPLE": "0"}
        spec = ServiceSpec("stack", ("-m", "loadtests.stack_process"), knobs, data / "stack.log", partial(_serves, url))
        stack = ServiceProcess(spec, _report)
        living, ready = asyncio.ensure_future(stack.live()), asyncio.ensure_future(stack.ready.wait())
        try:
            await asyncio.wait((living, ready), return_when=asyncio.FIRST_COMPLETED)
            if living.done():
                living.result()  # raises why it did not start
            async with gateway_client(url) as client:
                for sample in (*SAMPLES, PAPERS):
                    if sample.name in mix.collections:
                        await ensure_collection(client, sample, data / "samples")
            yield Address(url, _targets(data / "logs"))
        finally:
            living.cancel()
            ready.cancel()
            await asyncio.gather(living, ready, return_exceptions=True)
            await stack.stop(_STOP_GRACE_S)


@asynccontextmanager
async def scratch_collection(url: str, mix: Mix) -> AsyncIterator[None]:
    """The mix's scratch collection, when it has one, until the block ends. Raises Failure when it is there already."""
    if mix.scratch is None:
        yield
        return
    name = mix.scratch.name
    async with gateway_client(url) as client:
        if await _get(client, f"/v1/collections/{name}"):
            raise Failure(
                f"a collection {name} is there already, and this run would delete it: delete it, or rename it"
            )
        made = await client.post("/v1/collections", json=mix.scratch.model_dump())
        if made.is_error:
            raise Failure(f"the scratch collection {name} cannot be made: {made.text}")
        try:
            yield
        finally:
            await client.delete(f"/v1/collections/{name}")


async def describe(url: str, mix: Mix, *, started_here: bool) -> Stack:
    """What the stack says of itself. Raises Failure when it is not ready, or lacks a collection of the mix."""
    async with gateway_client(url) as client:
        status = await _get(client, "/v1/status")
        if not status or not status["ready"]:
            raise Failure(f"the stack at {url} is not ready: {status or 'it has no /v1/status'}")
        chunks = {}
        for name in mix.collections:
            if (collection := await _get(client, f"/v1/collections/{name}")) is None:
                raise Failure(f"the stack at {url} has no collection {name}, which this mix searches")
            chunks[name] = collection["generation"]["chunks"]
    return Stack(
        started_here=started_here, model=status["model"]["name"], generator=status["generator"]["name"], chunks=chunks
    )


def _report(line: str) -> None:
    print(line, flush=True)


async def _serves(url: str) -> bool:
    async with gateway_client(url) as client:
        try:
            status = await _get(client, "/v1/status")
        except Failure:
            return False
    return bool(status and status["ready"])


async def _get(client: httpx.AsyncClient, path: str) -> dict[str, Any] | None:
    """The JSON at `path`, None when there is none. Raises Failure when nothing answers there."""
    try:
        response = await client.get(path)
    except httpx.HTTPError:
        raise Failure(f"nothing answers at {client.base_url}; start it with `make run`") from None
    return response.json() if response.status_code == httpx.codes.OK else None


def _targets(logs: Path) -> dict[str, str]:
    """Where the services of a `make run` serve, as each says in its log."""
    events = ((log.stem, line) for log in logs.glob("*.log") for line in log.read_text().splitlines())
    told = [(service, json.loads(line)) for service, line in events if line.startswith("{")]
    return {service: f"{LOOPBACK}:{event['port']}" for service, event in told if event.get("event") == "serving"}
