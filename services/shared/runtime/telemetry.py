"""The tracer and the metrics registry of one process, handed down by wiring: nothing global, so tests can run many."""

from dataclasses import dataclass

from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import SpanProcessor, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.trace import NoOpTracer, Tracer
from prometheus_client import CollectorRegistry


@dataclass(frozen=True, slots=True)
class Telemetry:
    """Where one process's signals go."""

    service: str
    tracer: Tracer
    registry: CollectorRegistry
    provider: TracerProvider | None

    def flush(self) -> None:
        """Send what is still buffered; waits at most a few seconds for the receiver."""
        if self.provider:
            self.provider.shutdown()


def build_telemetry(service: str, version: str, *, processor: SpanProcessor | None) -> Telemetry:
    """Telemetry of `service`; without a span `processor` spans cost nothing and go nowhere."""
    if processor is None:
        return Telemetry(service, NoOpTracer(), CollectorRegistry(), None)
    resource = Resource.create({"service.name": service, "service.namespace": "plumbline", "service.version": version})
    provider = TracerProvider(resource=resource, shutdown_on_exit=False)
    provider.add_span_processor(processor)
    return Telemetry(service, provider.get_tracer("plumbline"), CollectorRegistry(), provider)


def otlp_processor(endpoint: str | None) -> SpanProcessor | None:
    """A processor that sends spans in batches to an OTLP/gRPC receiver inside the cluster; None without an endpoint."""
    if endpoint is None:
        return None
    return BatchSpanProcessor(OTLPSpanExporter(endpoint=endpoint, insecure=True), schedule_delay_millis=500)
