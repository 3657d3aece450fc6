"""A stream of requests whose reply begins before its end: the caller gets the peer's status, every time."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import grpc
import pytest

from plumbline.ingest.v1 import ingest_pb2 as pb
from plumbline.ingest.v1.ingest_pb2_grpc import IngestServiceServicer, IngestServiceStub
from plumbline.ingest.v1.ingest_pb2_grpc import add_IngestServiceServicer_to_server as add_ingest
from services.shared.clients import ingest as ingest_client
from services.shared.clients.ingest import IngestClient
from services.shared.runtime import interceptors
from services.shared.runtime.errors import InvalidInput, NotFound, PlumblineError
from services.shared.runtime.rpc_metrics import RpcMetrics
from services.shared.runtime.server import App
from services.shared.runtime.settings import RpcSettings
from tests.fakes.serving import channel_to, recorded_telemetry, served

TIMES = 20
PIECE = bytes(1024 * 1024)  # many times the window of a stream in HTTP/2
# A question to the catalog takes about so long; meanwhile the caller fills the window and stands.
LOOKUP_S = 0.02
REFUSAL = NotFound("collection 'nope' does not exist", field="collection")


class RefusesAfter(IngestServiceServicer):
    """Reads `pieces` of an upload, looks something up, raises `error`."""

    def __init__(self, pieces: int, error: Exception) -> None:
        self.pieces = pieces
        self.error = error

    async def UploadFiles(self, request_iterator, context):
        for _ in range(self.pieces):
            await anext(request_iterator)
        await asyncio.sleep(LOOKUP_S)
        raise self.error


@asynccontextmanager
async def serving_ingest(servicer: IngestServiceServicer) -> AsyncIterator[str]:
    telemetry = recorded_telemetry("ingest").telemetry
    app = App(
        register=lambda server: add_ingest(servicer, server),
        services=[ingest_client.SERVICE],
        metrics=RpcMetrics("ingest", telemetry.registry),
    )
    async with served(app, RpcSettings(port=0, grace_s=0), telemetry) as running:
        yield running.target


@asynccontextmanager
async def client_of(servicer: IngestServiceServicer) -> AsyncIterator[IngestClient]:
    caller = recorded_telemetry("gateway").telemetry
    async with serving_ingest(servicer) as target:
        client = IngestClient(target, caller, RpcMetrics("gateway", caller.registry))
        try:
            yield client
        finally:
            await client.close()


async def upload(pieces: int = 9) -> AsyncIterator[pb.UploadFilesRequest]:
    """9 MB."""
    for _ in range(pieces):
        yield pb.UploadFilesRequest(data=PIECE)


async def test_a_piece_of_an_upload_that_cannot_be_read_is_refused_as_such() -> None:
    async def pieces() -> AsyncIterator[bytes]:
        yield pb.UploadFilesRequest(data=PIECE).SerializeToString()
        yield b"\xff" * 16

    async with serving_ingest(RefusesAfter(2, REFUSAL)) as target, channel_to(target) as channel:
        with pytest.raises(grpc.aio.AioRpcError) as failure:
            await channel.stream_unary("/plumbline.ingest.v1.IngestService/UploadFiles")(pieces(), timeout=20)
    assert failure.value.code() is grpc.StatusCode.INVALID_ARGUMENT
    assert "not of its message" in failure.value.details()


@pytest.mark.parametrize("pieces", [0, 3])
@pytest.mark.parametrize("error", [REFUSAL, InvalidInput("a format that is not read", field="file")])
async def test_a_refusal_amid_a_large_upload_arrives_whole_every_time(pieces: int, error: PlumblineError) -> None:
    seen = []
    async with client_of(RefusesAfter(pieces, error)) as client:
        for _ in range(TIMES):
            with pytest.raises(PlumblineError) as raised:
                await client.upload_files(upload(), timeout_s=20)
            seen.append((type(raised.value), raised.value.message, raised.value.field))
    assert seen == [(type(error), error.message, error.field)] * TIMES


async def test_a_caller_that_waits_for_its_own_next_piece_hears_of_the_refusal_at_once() -> None:
    async def stalls() -> AsyncIterator[pb.UploadFilesRequest]:
        yield pb.UploadFilesRequest(data=PIECE)
        await asyncio.Event().wait()

    async with client_of(RefusesAfter(1, REFUSAL)) as client, asyncio.timeout(interceptors.DRAIN_S):
        with pytest.raises(NotFound):
            await client.upload_files(stalls(), timeout_s=20)


async def test_what_is_not_wanted_any_more_is_not_asked_for() -> None:
    asked = 0

    async def endless() -> AsyncIterator[pb.UploadFilesRequest]:
        nonlocal asked
        while True:
            asked += 1
            yield pb.UploadFilesRequest(data=PIECE)

    async with client_of(RefusesAfter(1, REFUSAL)) as client, asyncio.timeout(interceptors.DRAIN_S):
        with pytest.raises(NotFound):
            await client.upload_files(endless(), timeout_s=20)
    assert asked < 1000


async def test_a_foreign_caller_that_sends_to_the_end_gets_the_status_too() -> None:
    seen = []
    async with serving_ingest(RefusesAfter(0, REFUSAL)) as target, channel_to(target) as channel:
        for _ in range(TIMES):
            with pytest.raises(grpc.aio.AioRpcError) as raised:
                await IngestServiceStub(channel).UploadFiles(upload(), timeout=20)
            seen.append(raised.value.code())
    assert seen == [grpc.StatusCode.NOT_FOUND] * TIMES


async def test_a_caller_that_never_ends_is_refused_in_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(interceptors, "DRAIN_S", 0.05)
    stop = asyncio.Event()

    async def holds() -> AsyncIterator[pb.UploadFilesRequest]:
        yield pb.UploadFilesRequest(data=PIECE)
        await stop.wait()

    async with serving_ingest(RefusesAfter(0, REFUSAL)) as target, channel_to(target) as channel:
        with pytest.raises(grpc.aio.AioRpcError) as raised:
            await IngestServiceStub(channel).UploadFiles(holds(), timeout=20)
    assert raised.value.code() is grpc.StatusCode.NOT_FOUND
