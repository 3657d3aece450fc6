"""What the server skeleton does around a call: deadline, errors, request id, admission, version, health, reflection."""

import asyncio

import grpc
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection_pb2, reflection_pb2_grpc

from plumbline.ranking.v1 import ranking_pb2 as pb
from plumbline.ranking.v1.ranking_pb2_grpc import RankingServiceStub
from services.shared.runtime.errors import STATUSES, Internal, InvalidInput, Overloaded
from services.shared.runtime.version import VERSION
from tests.fakes.scripted_ranking import ScriptedRanking, answers, raises, serving_ranking
from tests.fakes.serving import channel_to, recorded_telemetry

REQUEST = pb.RankRequest()


def nested(depth: int) -> bytes:
    """A field that no message knows, a group within a group: a parser gives up at 100."""
    return b"\xfb\x01" * depth + b"\xfc\x01" * depth  # field 31, its start and its end


async def failure_of(servicer: ScriptedRanking, **metadata: str) -> grpc.aio.AioRpcError:
    telemetry = recorded_telemetry("ranking")
    async with serving_ranking(servicer, telemetry) as running, channel_to(running.target) as channel:
        with pytest.raises(grpc.aio.AioRpcError) as failure:
            await RankingServiceStub(channel).Rank(REQUEST, timeout=5, metadata=tuple(metadata.items()))
    return failure.value


async def test_a_call_without_a_deadline_is_refused() -> None:
    servicer = ScriptedRanking(answers)
    async with (
        serving_ranking(servicer, recorded_telemetry("ranking")) as running,
        channel_to(running.target) as channel,
    ):
        with pytest.raises(grpc.aio.AioRpcError) as failure:
            await RankingServiceStub(channel).Rank(REQUEST)
    assert failure.value.code() is grpc.StatusCode.INVALID_ARGUMENT
    assert "deadline" in failure.value.details()
    assert servicer.calls == 0


@pytest.mark.parametrize(
    "status", [row for row in STATUSES if row.error is not Internal], ids=lambda row: row.error.__name__
)
async def test_each_error_becomes_its_status_and_keeps_its_sentence(status) -> None:
    failure = await failure_of(ScriptedRanking(raises(status.error("says what to do"))))
    assert (failure.code(), failure.details()) == (status.code, "says what to do")


async def test_field_and_retry_hint_travel_beside_the_status() -> None:
    failure = await failure_of(ScriptedRanking(raises(InvalidInput("no", field="filtre.größe"))))
    assert dict(list(failure.trailing_metadata()))["plumbline-error-field-bin"].decode() == "filtre.größe"
    failure = await failure_of(ScriptedRanking(raises(Overloaded("later", retry_after_s=1.5))))
    assert dict(list(failure.trailing_metadata()))["plumbline-retry-after-ms"] == "1500"


@pytest.mark.parametrize("letter", ["x", "ж", "月", "🌶"])
async def test_a_sentence_or_a_field_of_any_length_arrives_with_its_status(letter: str) -> None:
    failure = await failure_of(ScriptedRanking(raises(InvalidInput(letter * 100_000, field=letter * 100_000))))
    assert failure.code() is grpc.StatusCode.INVALID_ARGUMENT
    assert failure.details().startswith(letter * 400)
    assert dict(list(failure.trailing_metadata()))["plumbline-error-field-bin"].decode().startswith(letter * 100)


@pytest.mark.parametrize("error", [RuntimeError("secret /etc/passwd"), Internal("secret digest")])
async def test_a_fault_of_ours_shows_the_request_id_and_no_detail(error: Exception) -> None:
    failure = await failure_of(ScriptedRanking(raises(error)), **{"plumbline-request-id": "req-7"})
    assert failure.code() is grpc.StatusCode.INTERNAL
    assert failure.details() == "internal error; request id req-7"


@pytest.mark.parametrize(
    "sent",
    [b"\xff" * 16, b"\x0a\x05abc", nested(150)],
    ids=["not a message", "cut short", "nested 150 deep"],
)
async def test_bytes_that_are_no_request_are_refused_as_such(sent: bytes) -> None:
    servicer = ScriptedRanking(answers)
    telemetry = recorded_telemetry("ranking")
    async with serving_ranking(servicer, telemetry) as running, channel_to(running.target) as channel:
        with pytest.raises(grpc.aio.AioRpcError) as failure:
            await channel.unary_unary("/plumbline.ranking.v1.RankingService/Rank")(sent, timeout=5)
    assert failure.value.code() is grpc.StatusCode.INVALID_ARGUMENT
    assert "not of its message" in failure.value.details()
    assert servicer.calls == 0


async def test_over_capacity_is_refused_at_once() -> None:
    entered, release = asyncio.Event(), asyncio.Event()

    async def waits(_: pb.RankRequest) -> pb.RankResponse:
        entered.set()
        await release.wait()
        return pb.RankResponse()

    telemetry = recorded_telemetry("ranking")
    full_house = serving_ranking(ScriptedRanking(waits), telemetry, max_concurrent_rpcs=1)
    async with full_house as running, channel_to(running.target) as channel:
        stub = RankingServiceStub(channel)
        inside = asyncio.ensure_future(stub.Rank(REQUEST, timeout=30))
        await entered.wait()
        with pytest.raises(grpc.aio.AioRpcError) as failure:
            await stub.Rank(REQUEST, timeout=30)
        assert failure.value.code() is grpc.StatusCode.RESOURCE_EXHAUSTED
        assert "plumbline-retry-after-ms" in dict(list(failure.value.trailing_metadata()))
        release.set()
        await inside
        await stub.Rank(REQUEST, timeout=30)  # the house is free again


async def test_a_deadline_that_passes_is_counted_as_such() -> None:
    telemetry = recorded_telemetry("ranking")
    cancelled = asyncio.Event()

    async def stalls(_: pb.RankRequest) -> pb.RankResponse:
        try:
            await asyncio.Event().wait()
        finally:
            cancelled.set()
        return pb.RankResponse()

    async with serving_ranking(ScriptedRanking(stalls), telemetry) as running, channel_to(running.target) as channel:
        with pytest.raises(grpc.aio.AioRpcError) as failure:
            await RankingServiceStub(channel).Rank(REQUEST, timeout=0.05)
        assert failure.value.code() is grpc.StatusCode.DEADLINE_EXCEEDED
        await asyncio.wait_for(cancelled.wait(), 10)
    counted = telemetry.sample("plumbline_ranking_rpc_requests_total", method="Rank", code="DEADLINE_EXCEEDED")
    assert counted == 1
    assert telemetry.sample("plumbline_ranking_rpc_in_flight", method="Rank") == 0


async def test_every_reply_tells_the_version_and_health_does_too() -> None:
    async with (
        serving_ranking(ScriptedRanking(answers), recorded_telemetry("ranking")) as running,
        channel_to(running.target) as channel,
    ):
        call = RankingServiceStub(channel).Rank(REQUEST, timeout=5)
        assert dict(list(await call.initial_metadata()))["plumbline-version"] == VERSION
        check = health_pb2_grpc.HealthStub(channel).Check(health_pb2.HealthCheckRequest(), timeout=5)
        assert dict(list(await check.initial_metadata()))["plumbline-version"] == VERSION


async def test_health_is_told_per_service_and_for_the_whole() -> None:
    async with (
        serving_ranking(ScriptedRanking(answers), recorded_telemetry("ranking")) as running,
        channel_to(running.target) as channel,
    ):
        health = health_pb2_grpc.HealthStub(channel)
        for name in ("", "plumbline.ranking.v1.RankingService"):
            reply = await health.Check(health_pb2.HealthCheckRequest(service=name), timeout=5)
            assert reply.status == health_pb2.HealthCheckResponse.SERVING
        with pytest.raises(grpc.aio.AioRpcError) as failure:
            await health.Check(health_pb2.HealthCheckRequest(service="other"), timeout=5)
        assert failure.value.code() is grpc.StatusCode.NOT_FOUND


async def test_reflection_lists_our_service() -> None:
    async with (
        serving_ranking(ScriptedRanking(answers), recorded_telemetry("ranking")) as running,
        channel_to(running.target) as channel,
    ):
        stub = reflection_pb2_grpc.ServerReflectionStub(channel)
        call = stub.ServerReflectionInfo(iter([reflection_pb2.ServerReflectionRequest(list_services="")]), timeout=5)
        reply = await call.read()
        names = {service.name for service in reply.list_services_response.service}
    assert "plumbline.ranking.v1.RankingService" in names
