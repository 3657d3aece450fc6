"""The stack that is measured when none is named: all six services of this checkout, on free ports."""

import asyncio
import json
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from loadtests.quality.judged_set import JudgedSet
from services.local.environment import LOOPBACK, Options
from services.local.index_engine import require_engine, weaviate_program, weaviate_service
from services.local.loopback import free_ports
from services.local.run import service_processes, service_specs
from services.local.service_process import ServiceProcess, ServiceSpec
from services.local.settings import read_settings
from services.local.trace_receiver import TraceFile, start_receiver
from services.local.weights import folder_of

_STOP_GRACE_S = 60.0  # embedding writes what it computed


@dataclass(frozen=True, slots=True)
class Running:
    """A stack that runs: the gateway's URL, and what its search service is told in the environment."""

    url: str
    search: Mapping[str, str]


@asynccontextmanager
async def own_stack(
    data: Path, sets: Sequence[JudgedSet], *, index: str, broken_analyzer: bool
) -> AsyncIterator[Running]:
    """A stack over the folder `data`, with the one model that all of `sets` name.

    Its processes end with the block, and with this process however that one ends. Raises Failure.
    """
    settings, model = read_settings(), sets[0].model
    has_weights = model != "hashing"
    folder = str(await asyncio.to_thread(folder_of, model, settings.models_folder)) if has_weights else model
    data.mkdir(parents=True, exist_ok=True)
    require_engine(index, data)
    program = await asyncio.to_thread(weaviate_program, settings, _report) if index == "weaviate" else None
    engine, index_server = weaviate_service(program, data.resolve())
    receiver, otlp_port = await start_receiver(TraceFile(data))
    (port,) = free_ports(1)
    options = Options(data=data.resolve(), model=folder, otlp_port=otlp_port, index_server=index_server)
    modules = {"search": "loadtests.quality.broken_analyzer"} if broken_analyzer else {}
    if has_weights:
        modules["embedding"] = "loadtests.quality.ready_vectors"
    ready = {
        "PLUMBLINE_EMBEDDING_READY_SETS": json.dumps([judged.name for judged in sets if judged.ready]),
        "PLUMBLINE_EMBEDDING_COMPUTED": str(settings.models_folder.parent / "computed_vectors"),
    }
    specs = [_replaced(spec, modules, ready) for spec in service_specs(port, options)]
    services = service_processes(engine, specs, _report)
    try:
        async with all_running(services):
            (search,) = (spec.environment for spec in specs if spec.name == "search")
            yield Running(f"http://{LOOPBACK}:{port}", search)
    finally:
        await receiver.stop(None)


def _report(line: str) -> None:
    print(line, flush=True)


def events(data: Path, service: str, name: str) -> list[Mapping[str, Any]]:
    """The events of this name in the log of a service of the stack over `data`, oldest first."""
    lines = (data / "logs" / f"{service}.log").read_text().splitlines()
    logged = [json.loads(line) for line in lines if line.startswith("{")]
    return [event for event in logged if event.get("event") == name]


def _replaced(spec: ServiceSpec, modules: Mapping[str, str], ready: Mapping[str, str]) -> ServiceSpec:
    if spec.name not in modules:
        return spec
    environment = {**spec.environment, **ready} if spec.name == "embedding" else spec.environment
    return replace(spec, command=("-m", modules[spec.name]), environment=environment)


@asynccontextmanager
async def all_running(services: Sequence[ServiceProcess]) -> AsyncIterator[None]:
    """All services, ready. Raises Failure, with all of them stopped, when one does not start."""
    living = [asyncio.ensure_future(service.live()) for service in services]
    ready: asyncio.Future[list[Literal[True]]] = asyncio.gather(*(service.ready.wait() for service in services))
    tasks: list[asyncio.Future[Any]] = [*living, ready]
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        for ended in living:
            if ended.done():
                ended.result()  # raises why it did not start
        yield
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        for service in reversed(services):
            await service.stop(_STOP_GRACE_S)
