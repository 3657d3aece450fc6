"""A cross-encoder tells relevance where it answers in time; else the order without it stands, and says so."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager

import grpc
import pytest

from plumbline.embedding.v1 import embedding_pb2
from plumbline.embedding.v1.embedding_pb2_grpc import EmbeddingServiceServicer, add_EmbeddingServiceServicer_to_server
from plumbline.ranking.v1 import ranking_pb2 as pb
from plumbline.ranking.v1.ranking_pb2_grpc import RankingServiceStub
from services.ranking.settings import RankingServiceSettings
from services.ranking.wiring import build
from services.shared.clients.embedding import SERVICE
from services.shared.runtime.errors import DependencyUnavailable, InvalidInput, NotFound, Overloaded
from services.shared.runtime.metadata import error_from_rpc
from services.shared.runtime.rpc_metrics import RpcMetrics
from services.shared.runtime.server import App
from services.shared.runtime.settings import RpcSettings
from tests.fakes.serving import RecordedTelemetry, channel_to, recorded_telemetry, served

Behaviour = Callable[[embedding_pb2.ScoreRequest], Awaitable[embedding_pb2.ScoreResponse]]


class PairScores(EmbeddingServiceServicer):
    """Answers each call for scores by its behaviour; keeps the requests."""

    def __init__(self, behaviour: Behaviour) -> None:
        self._behaviour = behaviour
        self.requests: list[embedding_pb2.ScoreRequest] = []

    async def Score(
        self, request: embedding_pb2.ScoreRequest, context: grpc.aio.ServicerContext
    ) -> embedding_pb2.ScoreResponse:
        self.requests.append(request)
        return await self._behaviour(request)


def gives(*scores: float) -> Behaviour:
    async def score(_: embedding_pb2.ScoreRequest) -> embedding_pb2.ScoreResponse:
        return embedding_pb2.ScoreResponse(scores=scores)

    return score


def fails(error: Exception) -> Behaviour:
    async def score(_: embedding_pb2.ScoreRequest) -> embedding_pb2.ScoreResponse:
        raise error

    return score


class Ranked:
    """A ranking service with its telemetry."""

    def __init__(self, stub: RankingServiceStub, telemetry: RecordedTelemetry) -> None:
        self.stub = stub
        self.telemetry = telemetry

    async def rank(self, *texts: str, timeout: float = 20, **settings: object) -> pb.RankResponse:
        return await self.stub.Rank(request(*texts, **settings), timeout=timeout)

    async def refused(self, message: pb.RankRequest) -> tuple[grpc.StatusCode, str | None]:
        with pytest.raises(grpc.aio.AioRpcError) as failure:
            await self.stub.Rank(message, timeout=5)
        return failure.value.code(), error_from_rpc(failure.value, peer="ranking").field


@asynccontextmanager
async def ranking(embedding_target: str | None) -> AsyncIterator[Ranked]:
    telemetry = recorded_telemetry("ranking")
    settings = RankingServiceSettings(port=0, embedding_target=embedding_target)
    app = await build(settings, telemetry.telemetry)
    async with served(app, settings, telemetry.telemetry) as running, channel_to(running.target) as channel:
        yield Ranked(RankingServiceStub(channel), telemetry)


@asynccontextmanager
async def ranking_by(behaviour: Behaviour) -> AsyncIterator[tuple[Ranked, PairScores]]:
    servicer, telemetry = PairScores(behaviour), recorded_telemetry("embedding").telemetry
    app = App(
        register=lambda server: add_EmbeddingServiceServicer_to_server(servicer, server),
        services=[SERVICE],
        metrics=RpcMetrics("embedding", telemetry.registry),
    )
    async with served(app, RpcSettings(port=0), telemetry) as running, ranking(running.target) as service:
        yield service, servicer


def request(*texts: str, query: str = "which?", **settings: object) -> pb.RankRequest:
    """Candidates c0, c1, ... in this order, each with its text."""
    asked = {"relevance": pb.RELEVANCE_FUSED, "cross_encoder": True, "cross_encoder_budget_ms": 10_000}
    return pb.RankRequest(
        candidates=[
            pb.Candidate(id=f"c{place}", fused_score=1 / (61 + place), text=text) for place, text in enumerate(texts)
        ],
        query=query,
        settings=pb.RankingSettings(**(asked | settings)),
        fused_top=2 / 61,
        fused_floor=1 / 161,
    )


def ids(response: pb.RankResponse) -> Sequence[str]:
    return [hit.id for hit in response.ranked]


async def test_relevance_is_the_score_through_a_sigmoid_and_the_ledger_tells_both() -> None:
    async with ranking_by(gives(-1.0, 2.0, 0.0)) as (service, _):
        response = await service.rank("a", "b", "c")
    assert (ids(response), list(response.degraded)) == (["c1", "c2", "c0"], [])
    first = response.ranked[0].ledger
    assert first.relevance_kind == pb.RELEVANCE_CROSS_ENCODER
    assert first.cross_encoder_score == 2.0
    assert first.relevance == pytest.approx(0.8808, abs=1e-4)  # 1 / (1 + exp(-2))
    assert [(place.step, place.place) for place in first.places] == [("fused", 2), ("cross_encoder", 1)]


async def test_the_query_is_read_with_every_passage_in_their_order() -> None:
    async with ranking_by(gives(0.0, 0.0)) as (service, embedding):
        await service.rank("first", "second")
    (asked,) = embedding.requests
    assert [(pair.query, pair.passage) for pair in asked.pairs] == [("which?", "first"), ("which?", "second")]


async def test_recency_comes_after_it() -> None:
    # sigmoid(0.1) = 0.525 beats sigmoid(0) = 0.5 until the newer one is worth 1.2 times as much.
    async with ranking_by(gives(0.1, 0.0)) as (service, _):
        message = request("a", "b", clock_date="2026-11-30", recency_places=5)
        message.settings.recency_tiers.add(up_to_years=1, multiplier=1.2)
        message.settings.recency_tiers.add(multiplier=0.9)
        message.candidates[0].date, message.candidates[1].date = "2001", "2026"
        response = await service.stub.Rank(message, timeout=5)
    assert ids(response) == ["c1", "c0"]
    assert [place.step for place in response.ranked[0].ledger.places] == ["fused", "cross_encoder", "recency"]


async def test_after_its_budget_the_order_without_it_stands_and_says_so() -> None:
    never = asyncio.Event()

    async def waits(_: embedding_pb2.ScoreRequest) -> embedding_pb2.ScoreResponse:
        await never.wait()
        raise AssertionError("nobody waits for this")

    async with ranking_by(waits) as (service, _):
        response = await service.rank("a", "b", cross_encoder_budget_ms=50)
        sample = service.telemetry.sample
        assert sample("plumbline_ranking_degraded_total", step="cross_encoder") == 1
        waited_s = sample("plumbline_ranking_cross_encoder_seconds_sum")
        assert waited_s is not None and 0.03 < waited_s < 3
    assert (ids(response), list(response.degraded)) == (["c0", "c1"], ["cross_encoder"])
    assert response.ranked[0].ledger.relevance_kind == pb.RELEVANCE_FUSED
    assert not response.ranked[0].ledger.HasField("cross_encoder_score")


async def test_a_budget_beyond_the_time_of_the_call_leaves_time_for_the_order() -> None:
    never = asyncio.Event()

    async def waits(_: embedding_pb2.ScoreRequest) -> embedding_pb2.ScoreResponse:
        await never.wait()
        raise AssertionError("nobody waits for this")

    async with ranking_by(waits) as (service, _):
        response = await service.rank("a", "b", timeout=2)
    assert (ids(response), list(response.degraded)) == (["c0", "c1"], ["cross_encoder"])


@pytest.mark.parametrize(
    "behaviour",
    [
        fails(NotFound("no cross-encoder is loaded")),
        fails(InvalidInput("it is too long", field="pairs[0]")),
        fails(Overloaded("full", retry_after_s=1.0)),
        fails(DependencyUnavailable("still loading")),
        fails(AssertionError("a bug")),
        gives(1.0),
        gives(1.0, float("nan")),
    ],
    ids=["not-loaded", "unreadable", "overloaded", "loading", "internal", "too-few-scores", "no-number"],
)
async def test_a_cross_encoder_that_cannot_answer_is_done_without(behaviour: Behaviour) -> None:
    async with ranking_by(behaviour) as (service, _):
        response = await service.rank("a", "b")
    assert (ids(response), list(response.degraded)) == (["c0", "c1"], ["cross_encoder"])


async def test_a_service_that_knows_no_embedding_service_does_without() -> None:
    async with ranking(None) as service:
        assert list((await service.rank("a", "b")).degraded) == ["cross_encoder"]


async def test_nobody_is_asked_unless_a_request_wants_it_or_where_there_is_nothing_to_read() -> None:
    async with ranking_by(gives(1.0)) as (service, embedding):
        assert not (await service.rank("a", cross_encoder=False)).degraded
        assert not (await service.rank()).ranked
        assert embedding.requests == []


async def test_it_needs_a_query_and_a_budget_within_bounds() -> None:
    async with ranking(None) as service:
        invalid = grpc.StatusCode.INVALID_ARGUMENT
        assert await service.refused(request("a", query=" ")) == (invalid, "query")
        for budget_ms in (0, 10_001):
            refusal = await service.refused(request("a", cross_encoder_budget_ms=budget_ms))
            assert refusal == (invalid, "settings.cross_encoder_budget_ms")
