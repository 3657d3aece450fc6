"""Runs one service in the test process: a real gRPC server on a free loopback port, its spans kept in memory."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

import grpc
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from services.shared.runtime.server import App, RunningServer
from services.shared.runtime.settings import RpcSettings
from services.shared.runtime.telemetry import Telemetry, build_telemetry


@dataclass(frozen=True, slots=True)
class RecordedTelemetry:
    """Telemetry whose finished spans a test can read."""

    telemetry: Telemetry
    exporter: InMemorySpanExporter

    def spans(self) -> tuple[ReadableSpan, ...]:
        """Spans that have ended, in the order in which they ended."""
        return self.exporter.get_finished_spans()

    def sample(self, name: str, **labels: str) -> float | None:
        """The value of one series, None when it does not exist."""
        return self.telemetry.registry.get_sample_value(name, labels)


def recorded_telemetry(service: str) -> RecordedTelemetry:
    """Fresh telemetry for `service`."""
    exporter = InMemorySpanExporter()
    return RecordedTelemetry(build_telemetry(service, "test", processor=SimpleSpanProcessor(exporter)), exporter)


@dataclass(frozen=True, slots=True)
class Served:
    """A server that has become ready; `target` is its address."""

    server: RunningServer
    target: str


@asynccontextmanager
async def served(app: App, settings: RpcSettings, telemetry: Telemetry) -> AsyncIterator[Served]:
    """The app behind a real server until the block ends; pass settings with port 0."""
    server = RunningServer(settings, app, telemetry)
    await server.start()
    serving = asyncio.ensure_future(server.serve())
    ready = asyncio.ensure_future(server.ready.wait())
    try:
        await asyncio.wait([serving, ready], return_when=asyncio.FIRST_COMPLETED)
        if serving.done():
            serving.result()  # raises what kept it from becoming ready
        yield Served(server, f"127.0.0.1:{server.port}")
    finally:
        ready.cancel()
        serving.cancel()
        await asyncio.gather(serving, return_exceptions=True)
        await server.stop()


@asynccontextmanager
async def channel_to(target: str) -> AsyncIterator[grpc.aio.Channel]:
    """A plain channel without our interceptors, as a foreign client has."""
    async with grpc.aio.insecure_channel(target) as channel:
        yield channel
