"""`make run`: everything on one machine, from the checks before the start to the last process ended."""

import asyncio
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from services.local.collection_upload import ensure_collection, gateway_client
from services.local.data_folder import fresh_log, held
from services.local.environment import LOOPBACK, SERVICES, Options, environment
from services.local.failure import Failure
from services.local.index_engine import WeaviateProgram, require_engine, weaviate_program, weaviate_service
from services.local.loopback import free_ports, is_taken
from services.local.readiness import answers_ok, is_serving
from services.local.sample_collections import PAPERS, SAMPLES
from services.local.service_process import ServiceProcess, ServiceSpec
from services.local.settings import LocalSettings
from services.local.supervisor import supervise
from services.local.trace_receiver import TraceFile, start_receiver
from services.local.weights import folder_of

# The embedding service's encoder for dry runs: it finds words, not meaning.
_WITHOUT_WEIGHTS = "hashing"
_FIRST_STEPS = """
Console: {url}/

Search:
curl -s {url}/v1/search -H 'content-type: application/json' \\
  -d '{{"collection": "python-reference", "query": "what does the with statement do", "limit": 3}}'

An answer with its sources, as it is written:
curl -sN {url}/v1/answers -H 'content-type: application/json' \\
  -d '{{"collection": "python-reference", "question": "What does the with statement do?"}}'

A question that the documents do not answer:
curl -s {url}/v1/answers -H 'content-type: application/json' \\
  -d '{{"collection": "python-reference", "question": "How tall is Mount Everest?", "stream": false}}'
"""


def run(settings: LocalSettings) -> None:
    """Serve until Ctrl-C or SIGTERM. Raises Failure when it cannot start, with nothing left running."""
    data = settings.data.resolve()
    with held(data):
        if is_taken(settings.port):
            raise Failure(f"port {settings.port} is taken by another program; choose another: make run PORT=<port>")
        without_weights = settings.model == _WITHOUT_WEIGHTS
        model = settings.model if without_weights else str(folder_of(settings.model, settings.models_folder))
        require_engine(settings.index, data)
        weaviate = weaviate_program(settings, _report) if settings.index == "weaviate" else None
        asyncio.run(_serve(settings, data, model, weaviate))


async def _serve(settings: LocalSettings, data: Path, model: str, weaviate: WeaviateProgram | None) -> None:
    engine, index_server = weaviate_service(weaviate, data)
    receiver, otlp_port = await start_receiver(TraceFile(data))
    options = Options(
        data=data,
        model=model,
        otlp_port=otlp_port,
        index_server=index_server,
        llm_url=settings.llm_url,
        llm_model=settings.llm_model,
    )
    _report(f"data in {settings.data}, model {settings.model}, answers {settings.llm_model or 'extractive'}")
    services = service_processes(engine, service_specs(settings.port, options), _report)
    try:
        await supervise(services, partial(_welcome, settings, data))
    finally:
        await receiver.stop(None)


def service_specs(port: int, options: Options) -> list[ServiceSpec]:
    """All services in the order of their start, with free ports and fresh logs; the gateway serves on `port`."""
    ports = dict(zip(SERVICES, free_ports(len(SERVICES)), strict=True)) | {"gateway": port}
    specs = []
    for name, variables in environment(ports, options).items():
        target = f"{LOOPBACK}:{ports[name]}"
        ready = partial(answers_ok, f"http://{target}/readyz") if name == "gateway" else partial(is_serving, target)
        specs.append(ServiceSpec(name, ("-m", f"services.{name}"), variables, fresh_log(options.data, name), ready))
    return specs


def service_processes(
    engine: ServiceSpec | None, specs: Sequence[ServiceSpec], report: Callable[[str], None]
) -> list[ServiceProcess]:
    """One process for each, in the order of their start: a server of the index first, the services once it is ready."""
    if engine is None:
        return [ServiceProcess(spec, report) for spec in specs]
    first = ServiceProcess(engine, report)
    return [first, *(ServiceProcess(spec, report, after=first) for spec in specs)]


def _report(line: str) -> None:
    print(line, flush=True)


async def _welcome(settings: LocalSettings, data: Path) -> None:
    url = f"http://{LOOPBACK}:{settings.port}"
    if settings.sample:
        try:
            async with gateway_client(url) as client:
                for sample in SAMPLES:
                    await ensure_collection(client, sample, data / "samples")
        except Failure as failure:
            _report(f"the samples are not complete: {failure}")
    _report(_FIRST_STEPS.format(url=url) if settings.sample else f"\nConsole: {url}/\n")
    _report(f"Ctrl-C stops everything. Logs are in {settings.data / 'logs'}.")


def add_papers(settings: LocalSettings) -> None:
    """`make sample-papers`: add the papers to the `make run` that serves on the same port. Raises Failure."""

    async def add() -> None:
        async with gateway_client(f"http://{LOOPBACK}:{settings.port}") as client:
            await ensure_collection(client, PAPERS, settings.data / "samples")

    asyncio.run(add())
