"""`make run`: everything on one machine, from the checks before the start to the last process ended."""

import asyncio
from collections.abc import Callable
from functools import partial
from pathlib import Path

from services.local.collection_upload import ensure_collection, gateway_client
from services.local.data_folder import held
from services.local.environment import LOOPBACK, SERVICES, Options, environment
from services.local.failure import Failure
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
        asyncio.run(_serve(settings, data, model))


async def _serve(settings: LocalSettings, data: Path, model: str) -> None:
    receiver, otlp_port = await start_receiver(TraceFile(data))
    options = Options(
        data=data,
        model=model,
        otlp_port=otlp_port,
        llm_url=settings.llm_url,
        llm_model=settings.llm_model,
    )
    report = partial(print, flush=True)
    report(f"data in {settings.data}, model {settings.model}, answers {settings.llm_model or 'extractive'}")
    services = [ServiceProcess(spec, report) for spec in service_specs(settings.port, options)]
    try:
        await supervise(services, partial(_welcome, settings, data, report))
    finally:
        await receiver.stop(None)


def service_specs(port: int, options: Options) -> list[ServiceSpec]:
    """All services in the order of their start, with free ports and fresh logs; the gateway serves on `port`."""
    ports = dict(zip(SERVICES, free_ports(len(SERVICES)), strict=True)) | {"gateway": port}
    logs = options.data / "logs"
    logs.mkdir(exist_ok=True)
    specs = []
    for name, variables in environment(ports, options).items():
        log = logs / f"{name}.log"
        if log.exists():
            log.replace(logs / f"{name}.1.log")
        target = f"{LOOPBACK}:{ports[name]}"
        ready = partial(answers_ok, f"http://{target}/readyz") if name == "gateway" else partial(is_serving, target)
        specs.append(ServiceSpec(name, ("-m", f"services.{name}"), variables, log, ready))
    return specs


async def _welcome(settings: LocalSettings, data: Path, report: Callable[[str], None]) -> None:
    url = f"http://{LOOPBACK}:{settings.port}"
    if settings.sample:
        try:
            async with gateway_client(url) as client:
                for sample in SAMPLES:
                    await ensure_collection(client, sample, data / "samples")
        except Failure as failure:
            report(f"the samples are not complete: {failure}")
    report(_FIRST_STEPS.format(url=url) if settings.sample else f"\nConsole: {url}/\n")
    report(f"Ctrl-C stops everything. Logs are in {settings.data / 'logs'}.")


def add_papers(settings: LocalSettings) -> None:
    """`make sample-papers`: add the papers to the `make run` that serves on the same port. Raises Failure."""

    async def add() -> None:
        async with gateway_client(f"http://{LOOPBACK}:{settings.port}") as client:
            await ensure_collection(client, PAPERS, settings.data / "samples")

    asyncio.run(add())
