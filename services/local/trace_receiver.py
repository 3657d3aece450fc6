"""Receives the services' spans over OTLP/gRPC and keeps the newest in a file, for `make trace`."""

from collections.abc import Iterable, Iterator
from pathlib import Path

import grpc
from opentelemetry.proto.collector.trace.v1 import trace_service_pb2, trace_service_pb2_grpc
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, KeyValue
from opentelemetry.proto.trace.v1.trace_pb2 import ResourceSpans, Status

from services.local.environment import LOOPBACK
from services.local.trace_tree import Span, to_line

_ROTATE_AT_BYTES = 8 * 1024 * 1024


class TraceFile:
    """Appends spans to `traces.jsonl`; when it is full it becomes `traces.1.jsonl`, whose content before is dropped."""

    def __init__(self, folder: Path, rotate_at_bytes: int = _ROTATE_AT_BYTES) -> None:
        self.current = folder / "traces.jsonl"
        self.previous = folder / "traces.1.jsonl"
        self._rotate_at_bytes = rotate_at_bytes

    def append(self, spans: Iterable[Span]) -> None:
        """Write one line a span. Two full files are the most that is kept."""
        with self.current.open("a") as file:
            file.writelines(f"{to_line(span)}\n" for span in spans)
            full = file.tell() >= self._rotate_at_bytes
        if full:
            self.current.replace(self.previous)


class TraceReceiver(trace_service_pb2_grpc.TraceServiceServicer):
    """The standard trace collector service, writing to a `TraceFile`."""

    def __init__(self, file: TraceFile) -> None:
        self._file = file

    async def Export(
        self,
        request: trace_service_pb2.ExportTraceServiceRequest,
        context: grpc.aio.ServicerContext[
            trace_service_pb2.ExportTraceServiceRequest, trace_service_pb2.ExportTraceServiceResponse
        ],
    ) -> trace_service_pb2.ExportTraceServiceResponse:
        """Keep the spans."""
        self._file.append(span for group in request.resource_spans for span in spans_from_proto(group))
        return trace_service_pb2.ExportTraceServiceResponse()


async def start_receiver(file: TraceFile) -> tuple[grpc.aio.Server, int]:
    """A running receiver and the loopback port that it listens on."""
    server = grpc.aio.server()
    trace_service_pb2_grpc.add_TraceServiceServicer_to_server(TraceReceiver(file), server)
    port = server.add_insecure_port(f"{LOOPBACK}:0")
    await server.start()
    return server, port


def spans_from_proto(group: ResourceSpans) -> Iterator[Span]:
    """The spans of one process, in the order they came."""
    service = _texts(group.resource.attributes).get("service.name", "unknown")
    for scope in group.scope_spans:
        for span in scope.spans:
            yield Span(
                trace_id=span.trace_id.hex(),
                span_id=span.span_id.hex(),
                parent_id=span.parent_span_id.hex(),
                service=service,
                name=span.name,
                start_ns=span.start_time_unix_nano,
                end_ns=span.end_time_unix_nano,
                status=span.status.message or Status.StatusCode.Name(span.status.code).removeprefix("STATUS_CODE_"),
                attributes=_texts(span.attributes),
            )


def _texts(attributes: Iterable[KeyValue]) -> dict[str, str]:
    return {pair.key: _text(pair.value) for pair in attributes}


def _text(value: AnyValue) -> str:
    kind = value.WhichOneof("value")
    return "" if kind is None else str(getattr(value, kind))
