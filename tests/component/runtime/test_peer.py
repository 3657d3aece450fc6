"""How one service calls another: what travels with a call, what is tried again, and how a call ends."""

import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import grpc
import pytest

from plumbline.answer.v1 import answer_pb2
from plumbline.answer.v1.answer_pb2_grpc import AnswerServiceServicer, add_AnswerServiceServicer_to_server
from plumbline.ranking.v1 import ranking_pb2 as pb
from services.ranking.settings import RankingServiceSettings
from services.shared.clients import answer as answer_client
from services.shared.clients.answer import AnswerClient
from services.shared.clients.ranking import RankingClient
from services.shared.runtime.call import new_call, serving
from services.shared.runtime.errors import (
    DeadlineExceeded,
    DependencyUnavailable,
    Internal,
    InvalidInput,
    NotFound,
    Overloaded,
    PlumblineError,
)
from services.shared.runtime.rpc_metrics import RpcMetrics
from services.shared.runtime.server import App
from tests.fakes.faulty_peers import garbling, wire_to
from tests.fakes.scripted_ranking import ScriptedRanking, answers, raises, serving_ranking
from tests.fakes.serving import RecordedTelemetry, recorded_telemetry, served

UNAVAILABLE = raises(DependencyUnavailable("down"))


@asynccontextmanager
async def ranking_client(
    servicer: ScriptedRanking, caller: RecordedTelemetry, callee: RecordedTelemetry
) -> AsyncIterator[RankingClient]:
    async with serving_ranking(servicer, callee) as running:
        metrics = RpcMetrics(caller.telemetry.service, caller.telemetry.registry)
        client = RankingClient(running.target, caller.telemetry, metrics)
        try:
            yield client
        finally:
            await client.close()


async def test_request_id_trace_and_a_shorter_deadline_travel_with_the_call() -> None:
    caller, callee = recorded_telemetry("search"), recorded_telemetry("ranking")
    servicer = ScriptedRanking(answers)
    async with ranking_client(servicer, caller, callee) as client:
        with (
            serving(new_call(timeout_s=2.0, request_id="req-1")),
            caller.telemetry.tracer.start_as_current_span("outer"),
        ):
            await client.rank(pb.RankRequest(), timeout_s=60)
    assert servicer.metadata[0]["plumbline-request-id"] == "req-1"
    assert servicer.seconds_left[0] < 2.0
    outer = next(span for span in caller.spans() if span.name == "outer")
    client_span = next(span for span in caller.spans() if span.name.endswith("/Rank"))
    (server_span,) = callee.spans()
    assert client_span.parent.span_id == outer.context.span_id
    assert server_span.parent.span_id == client_span.context.span_id
    assert server_span.context.trace_id == outer.context.trace_id
    assert server_span.attributes["plumbline.request_id"] == "req-1"


async def test_no_time_left_is_refused_without_a_call() -> None:
    servicer = ScriptedRanking(answers)
    async with ranking_client(servicer, recorded_telemetry("search"), recorded_telemetry("ranking")) as client:
        with serving(new_call(timeout_s=0.0)), pytest.raises(DeadlineExceeded):
            await client.rank(pb.RankRequest(), timeout_s=1)
    assert servicer.calls == 0


@pytest.mark.parametrize(
    "error",
    [InvalidInput("no", field="settings.mmr_lambda"), NotFound("gone"), Overloaded("full", retry_after_s=0.5)],
)
async def test_the_error_that_the_peer_raised_arrives_whole_and_is_not_tried_again(error: PlumblineError) -> None:
    servicer = ScriptedRanking(raises(error))
    async with ranking_client(servicer, recorded_telemetry("search"), recorded_telemetry("ranking")) as client:
        with pytest.raises(type(error)) as raised:
            await client.rank(pb.RankRequest(), timeout_s=5)
    assert (raised.value.message, raised.value.field, raised.value.retry_after_s) == (
        error.message, error.field, error.retry_after_s,
    )  # fmt: skip
    assert servicer.calls == 1


async def test_a_read_is_tried_again_twice_when_the_peer_is_unavailable() -> None:
    caller = recorded_telemetry("search")
    servicer = ScriptedRanking(UNAVAILABLE, UNAVAILABLE, answers)
    async with ranking_client(servicer, caller, recorded_telemetry("ranking")) as client:
        await client.rank(pb.RankRequest(), timeout_s=10)
    assert servicer.calls == 3
    assert caller.sample("plumbline_search_client_retries_total", peer="ranking", method="Rank") == 2
    assert (
        caller.sample("plumbline_search_client_requests_total", peer="ranking", method="Rank", code="UNAVAILABLE") == 2
    )


async def test_the_third_failure_of_a_read_reaches_the_caller() -> None:
    servicer = ScriptedRanking(UNAVAILABLE)
    async with ranking_client(servicer, recorded_telemetry("search"), recorded_telemetry("ranking")) as client:
        with pytest.raises(DependencyUnavailable):
            await client.rank(pb.RankRequest(), timeout_s=10)
    assert servicer.calls == 3


async def test_retries_stop_when_their_budget_is_spent() -> None:
    servicer = ScriptedRanking(UNAVAILABLE)
    async with ranking_client(servicer, recorded_telemetry("search"), recorded_telemetry("ranking")) as client:
        for _ in range(20):
            with pytest.raises(DependencyUnavailable):
                await client.rank(pb.RankRequest(), timeout_s=10)
    assert servicer.calls == 20 + 10  # ten retries, then first tries only


async def test_a_peer_that_is_not_there_is_unavailable_and_its_address_is_not_told() -> None:
    caller = recorded_telemetry("search")
    client = RankingClient("127.0.0.1:9", caller.telemetry, RpcMetrics("search", caller.telemetry.registry))
    started = time.monotonic()
    with pytest.raises(DependencyUnavailable) as raised:
        await client.rank(pb.RankRequest(), timeout_s=5)
    assert raised.value.message == "ranking does not answer"
    assert time.monotonic() - started < 5
    await client.close()


async def test_an_answer_that_cannot_be_read_is_a_fault_of_the_peer() -> None:
    telemetry = recorded_telemetry("search").telemetry
    metrics = RpcMetrics("search", telemetry.registry)
    async with garbling() as target:
        ranking, answering = RankingClient(target, telemetry, metrics), AnswerClient(target, telemetry, metrics)
        with pytest.raises(Internal, match="ranking answered with what is not its message"):
            await ranking.rank(pb.RankRequest(), timeout_s=5)
        with pytest.raises(Internal, match="answer answered with what is not its message"):
            await anext(answering.answer(answer_pb2.AnswerRequest(), timeout_s=5))
        await ranking.close()
        await answering.close()


async def test_a_connection_that_breaks_inside_an_answer_is_unavailable_and_a_read_is_tried_again() -> None:
    caller = recorded_telemetry("search")
    metrics = RpcMetrics("search", caller.telemetry.registry)
    full = pb.RankResponse(degraded=["redundancy"])

    async def answers_fully(_: pb.RankRequest) -> pb.RankResponse:
        return full

    async with (
        serving_ranking(ScriptedRanking(answers_fully), recorded_telemetry("ranking")) as running,
        wire_to(running.target) as wire,
    ):
        client = RankingClient(wire.target, caller.telemetry, metrics)
        wire.fault = "cuts"
        with pytest.raises(DependencyUnavailable):
            await client.rank(pb.RankRequest(), timeout_s=10)
        assert wire.cut == 3
        wire.fault = "cuts once"
        assert await client.rank(pb.RankRequest(), timeout_s=10) == full
        assert wire.cut == 4
        await client.close()


class EndlessAnswers(AnswerServiceServicer):
    """Streams deltas until it is cancelled."""

    def __init__(self) -> None:
        self.sent = 0

    async def Answer(
        self, request: answer_pb2.AnswerRequest, context: grpc.aio.ServicerContext
    ) -> AsyncIterator[answer_pb2.AnswerResponse]:
        while True:
            yield answer_pb2.AnswerResponse(delta=answer_pb2.Delta(text="word "))
            self.sent += 1


@asynccontextmanager
async def answer_client_to(
    servicer: AnswerServiceServicer, caller: RecordedTelemetry, callee: RecordedTelemetry
) -> AsyncIterator[AnswerClient]:
    app = App(
        register=lambda server: add_AnswerServiceServicer_to_server(servicer, server),
        services=[answer_client.SERVICE],
        metrics=RpcMetrics("answer", callee.telemetry.registry),
    )
    async with served(app, RankingServiceSettings(port=0), callee.telemetry) as running:
        client = AnswerClient(running.target, caller.telemetry, RpcMetrics("gateway", caller.telemetry.registry))
        try:
            yield client
        finally:
            await client.close()


async def test_a_stream_that_its_reader_leaves_is_cancelled_and_its_spans_end() -> None:
    caller, callee = recorded_telemetry("gateway"), recorded_telemetry("answer")
    servicer = EndlessAnswers()
    async with answer_client_to(servicer, caller, callee) as client:
        stream = client.answer(answer_pb2.AnswerRequest(), timeout_s=30)
        async for response in stream:
            assert response.delta.text == "word "
            break
        await stream.aclose()
    (client_span,), (server_span,) = caller.spans(), callee.spans()
    assert client_span.attributes["rpc.grpc.status_code"] == grpc.StatusCode.CANCELLED.value[0]
    assert server_span.attributes["rpc.grpc.status_code"] == grpc.StatusCode.CANCELLED.value[0]
    assert server_span.parent.span_id == client_span.context.span_id
    assert callee.sample("plumbline_answer_rpc_requests_total", method="Answer", code="CANCELLED") == 1


async def test_an_error_in_a_stream_arrives_as_ours() -> None:
    class Fails(AnswerServiceServicer):
        async def Answer(self, request, context):
            yield answer_pb2.AnswerResponse(delta=answer_pb2.Delta(text="a"))
            raise DependencyUnavailable("the generator is down", retry_after_s=3)

    caller = recorded_telemetry("gateway")
    async with answer_client_to(Fails(), caller, recorded_telemetry("answer")) as client:
        seen = []
        with pytest.raises(DependencyUnavailable) as raised:
            async for response in client.answer(answer_pb2.AnswerRequest(), timeout_s=30):
                seen.append(response.delta.text)
    assert seen == ["a"]
    assert raised.value.retry_after_s == 3
