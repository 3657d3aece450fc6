"""The real search and ranking services as processes, over a corpus that is in an engine already."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any, Literal

from loadtests.search_bench.collection import Collection
from loadtests.search_bench.engines import Engine
from services.local.environment import LOOPBACK
from services.local.loopback import free_ports
from services.local.readiness import is_serving
from services.local.service_process import ServiceProcess, ServiceSpec

_STOP_GRACE_S = 10.0


@asynccontextmanager
async def running_search(engine: Engine, collection: Collection, queries: Path, logs: Path) -> AsyncIterator[str]:
    """`host:port` of search, until the block ends; its embedding service looks vectors up in the file `queries`.

    Raises Failure, with nothing left running, when a service does not start.
    """
    logs.mkdir(parents=True, exist_ok=True)
    embedding, ranking, search = (f"{LOOPBACK}:{port}" for port in free_ports(3))
    specs = [
        _spec("embedding", embedding, {"QUERIES": str(queries)}, logs, "loadtests.search_bench.ready_embedding"),
        _spec("ranking", ranking, {}, logs, "services.ranking"),
        _spec(
            "search",
            search,
            {
                "EMBEDDING_TARGET": embedding,
                "RANKING_TARGET": ranking,
                "CATALOG_URL": f"sqlite:///{collection.catalog_file}",
                **engine.service_variables(),
            },
            logs,
            "services.search",
        ),
    ]
    services = [ServiceProcess(spec, print) for spec in specs]
    living = [asyncio.ensure_future(service.live()) for service in services]
    ready: asyncio.Future[list[Literal[True]]] = asyncio.gather(*(service.ready.wait() for service in services))
    tasks: list[asyncio.Future[Any]] = [*living, ready]
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        for ended in living:
            if ended.done():
                ended.result()  # raises why it did not start
        yield search
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        for service in reversed(services):
            await service.stop(_STOP_GRACE_S)


def _spec(name: str, target: str, knobs: Mapping[str, str], logs: Path, module: str) -> ServiceSpec:
    variables = {"PORT": target.rpartition(":")[2], **knobs}
    environment = {f"PLUMBLINE_{name.upper()}_{knob}": value for knob, value in variables.items()}
    log = logs / f"{name}.log"
    log.touch()
    return ServiceSpec(name, ("-m", module), environment, log, partial(is_serving, target))
