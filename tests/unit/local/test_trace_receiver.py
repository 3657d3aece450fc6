import asyncio
from pathlib import Path

from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.trace import Status, StatusCode

from services.local.trace_receiver import TraceFile, start_receiver
from services.local.trace_tree import Span, read_spans


async def test_what_a_service_exports_is_in_the_file(tmp_path: Path) -> None:
    file = TraceFile(tmp_path)
    receiver, port = await start_receiver(file)
    provider = TracerProvider(resource=Resource.create({"service.name": "search"}))
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter(endpoint=f"127.0.0.1:{port}", insecure=True)))
    tracer = provider.get_tracer("test")
    with (
        tracer.start_as_current_span("Search", attributes={"plumbline.request_id": "r1", "hits": 3}),
        tracer.start_as_current_span("Embed") as embed,
    ):
        embed.set_status(Status(StatusCode.ERROR, "UNAVAILABLE"))
    await asyncio.to_thread(provider.shutdown)
    await receiver.stop(None)

    inside, outside = read_spans([file.current])
    assert (outside.service, outside.name, outside.parent_id, outside.status) == ("search", "Search", "", "UNSET")
    assert outside.attributes == {"plumbline.request_id": "r1", "hits": "3"}
    assert (inside.name, inside.parent_id, inside.trace_id) == ("Embed", outside.span_id, outside.trace_id)
    assert inside.status == "UNAVAILABLE"
    assert outside.start_ns <= inside.start_ns <= inside.end_ns <= outside.end_ns


def test_a_full_file_is_put_aside_and_only_the_newest_two_are_kept(tmp_path: Path) -> None:
    file = TraceFile(tmp_path, rotate_at_bytes=1)
    for number in range(3):
        file.append([Span(str(number), "s", "", "search", "Search", 0, 1, "UNSET", {})])
    assert [span.trace_id for span in read_spans([file.previous, file.current])] == ["2"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["traces.1.jsonl"]
