"""The ranking service behind a real server: order, errors by field, metrics and spans."""

from collections.abc import AsyncIterator

import grpc
import numpy as np
import pytest

from plumbline.embedding.v1 import vectors_pb2
from plumbline.ranking.v1 import ranking_pb2 as pb
from plumbline.ranking.v1.ranking_pb2_grpc import RankingServiceStub
from services.ranking.settings import RankingServiceSettings
from services.ranking.wiring import build
from services.shared.clients.vectors import pack_vectors
from tests.fakes.serving import RecordedTelemetry, channel_to, recorded_telemetry, served

SETTINGS = pb.RankingSettings(relevance=pb.RELEVANCE_FUSED, mmr=True, mmr_lambda=0.5, clock_date="2026-11-30")


@pytest.fixture
def telemetry() -> RecordedTelemetry:
    return recorded_telemetry("ranking")


@pytest.fixture
async def ranking(telemetry: RecordedTelemetry) -> AsyncIterator[RankingServiceStub]:
    settings = RankingServiceSettings(port=0)
    app = await build(settings, telemetry.telemetry)
    async with served(app, settings, telemetry.telemetry) as running, channel_to(running.target) as channel:
        yield RankingServiceStub(channel)


def request(*vectors: list[float], dtype: int = vectors_pb2.VECTOR_DTYPE_FLOAT16, **changes: object) -> pb.RankRequest:
    rows = np.array(vectors, dtype=np.float32)
    candidates = [
        pb.Candidate(id=f"c{index}", fused_score=1 / (61 + index), vector_row=index) for index in range(len(vectors))
    ]
    fields = {"settings": SETTINGS, "fused_top": 2 / 61, "fused_floor": 1 / 161} | changes
    vectors_of_all = pack_vectors(rows, dtype) if vectors else None
    return pb.RankRequest(candidates=candidates, vectors=vectors_of_all, **fields)


def packed(*vectors: list[float]) -> vectors_pb2.PackedVectors:
    return pack_vectors(np.array(vectors, dtype=np.float32), vectors_pb2.VECTOR_DTYPE_FLOAT16)


async def refused(stub: RankingServiceStub, message: pb.RankRequest) -> tuple[grpc.StatusCode, str | None, str]:
    with pytest.raises(grpc.aio.AioRpcError) as failure:
        await stub.Rank(message, timeout=5)
    field = dict(list(failure.value.trailing_metadata())).get("plumbline-error-field-bin")
    return failure.value.code(), field.decode() if field else None, failure.value.details()


async def test_a_window_comes_back_diverse_with_a_ledger(ranking: RankingServiceStub) -> None:
    response = await ranking.Rank(request([1, 0], [1, 0], [0, 1]), timeout=5)
    assert [hit.id for hit in response.ranked] == ["c0", "c2", "c1"]
    assert response.ranked[2].ledger.redundancy == 1.0
    assert response.ranked[0].ledger.relevance_kind == pb.RELEVANCE_FUSED
    assert not response.ranked[0].ledger.HasField("age_years")


async def test_without_ledgers_the_order_is_the_same_and_duplicates_are_told(ranking: RankingServiceStub) -> None:
    asked = request([1, 0], [1, 0], [0, 1])
    asked.settings.near_duplicate_cosine = 0.99
    explained = await ranking.Rank(asked, timeout=5)
    asked.without_ledgers = True
    plain = await ranking.Rank(asked, timeout=5)
    assert [(hit.id, hit.score) for hit in plain.ranked] == [(hit.id, hit.score) for hit in explained.ranked]
    assert [hit.ledger for hit in plain.ranked] == [pb.Ledger(duplicates=["c1"]), pb.Ledger()]


async def test_an_empty_window_is_an_empty_answer(ranking: RankingServiceStub) -> None:
    assert not (await ranking.Rank(request(), timeout=5)).ranked


@pytest.mark.parametrize(
    ("setting", "value"),
    [("mmr_lambda", 1.1), ("mmr_lambda", float("nan")), ("mmr_cosine_share", -0.1),
     ("mmr_relevance_power", 0.5), ("mmr_relevance_power", 11), ("clock_date", "tomorrow"),
     ("recency_places", 1001), ("min_distinct", 101), ("near_duplicate_cosine", 1.1),
     ("cosine_share", -0.1)],
)  # fmt: skip
async def test_a_setting_out_of_bounds_is_named(ranking: RankingServiceStub, setting: str, value: object) -> None:
    settings = pb.RankingSettings()
    settings.CopyFrom(SETTINGS)
    setattr(settings, setting, value)
    code, field, _ = await refused(ranking, request([1, 0], settings=settings))
    assert (code, field) == (grpc.StatusCode.INVALID_ARGUMENT, f"settings.{setting}")


async def test_tiers_out_of_order_are_refused(ranking: RankingServiceStub) -> None:
    settings = pb.RankingSettings()
    settings.CopyFrom(SETTINGS)
    settings.recency_tiers.add(up_to_years=5, multiplier=1)
    settings.recency_tiers.add(up_to_years=1, multiplier=1.2)
    settings.recency_tiers.add(multiplier=0.9)
    code, field, _ = await refused(ranking, request([1, 0], settings=settings))
    assert (code, field) == (grpc.StatusCode.INVALID_ARGUMENT, "settings.recency_tiers")


async def test_bad_vectors_are_refused(ranking: RankingServiceStub) -> None:
    code, field, _ = await refused(ranking, request([float("nan"), 0]))
    assert (code, field) == (grpc.StatusCode.INVALID_ARGUMENT, "vectors.data")
    short = request([1, 0])
    short.vectors.data = short.vectors.data[:-1]
    code, field, detail = await refused(ranking, short)
    assert field == "vectors.data"
    assert "are 4 bytes, not 3" in detail


async def test_relevance_is_completed_from_the_vectors_and_told_in_the_ledger(ranking: RankingServiceStub) -> None:
    asked = request([1, 0], [0.6, 0.8], [0, 1], query_vector=packed([0, 1]))
    asked.settings.relevance, asked.settings.mmr, asked.settings.cosine_share = pb.RELEVANCE_COMPLETED, False, 1.0
    for candidate in asked.candidates:
        candidate.keyword.score = 3.0
    response = await ranking.Rank(asked, timeout=5)
    assert [hit.id for hit in response.ranked] == ["c2", "c1", "c0"]
    ledger = response.ranked[1].ledger
    assert ledger.relevance_kind == pb.RELEVANCE_COMPLETED
    assert (ledger.vector.completed, round(ledger.vector.score, 3), round(ledger.relevance, 3)) == (True, 0.8, 0.8)


async def test_near_duplicates_are_named(ranking: RankingServiceStub) -> None:
    asked = request([1, 0], [0, 1], [1, 0])
    asked.settings.near_duplicate_cosine = 0.99
    response = await ranking.Rank(asked, timeout=5)
    assert [(hit.id, list(hit.ledger.duplicates)) for hit in response.ranked] == [("c0", ["c2"]), ("c1", [])]


async def test_a_score_that_is_no_number_is_named(ranking: RankingServiceStub) -> None:
    asked = request([1, 0], [0, 1])
    asked.candidates[1].keyword.score = float("nan")
    assert (await refused(ranking, asked))[:2] == (grpc.StatusCode.INVALID_ARGUMENT, "candidates[1].keyword.score")


@pytest.mark.parametrize("rows", [([1.0, 0.0], [0.0, 1.0]), ([1.0, 0.0, 0.0],)])
async def test_a_query_vector_that_does_not_fit_is_refused(
    ranking: RankingServiceStub, rows: tuple[list[float], ...]
) -> None:
    code, field, _ = await refused(ranking, request([1, 0], query_vector=packed(*rows)))
    assert (code, field) == (grpc.StatusCode.INVALID_ARGUMENT, "query_vector")


async def test_more_places_than_there_may_be_candidates_are_refused(ranking: RankingServiceStub) -> None:
    code, field, _ = await refused(ranking, request([1, 0], limit=1001))
    assert (code, field) == (grpc.StatusCode.INVALID_ARGUMENT, "limit")


async def test_a_row_that_is_not_there_is_named(ranking: RankingServiceStub) -> None:
    wrong = request([1, 0])
    wrong.candidates[0].vector_row = 7
    assert (await refused(ranking, wrong))[1] == "candidates[0].vector_row"


async def test_series_exist_at_zero_and_count(ranking: RankingServiceStub, telemetry: RecordedTelemetry) -> None:
    labels = {"method": "Rank", "code": "OK"}
    assert telemetry.sample("plumbline_ranking_rpc_requests_total", **labels) == 0
    assert telemetry.sample("plumbline_ranking_order_seconds_count") == 0
    await ranking.Rank(request([1, 0]), timeout=5)
    assert telemetry.sample("plumbline_ranking_rpc_requests_total", **labels) == 1
    assert telemetry.sample("plumbline_ranking_window_candidates_sum") == 1
    assert telemetry.spans()[-1].name == "plumbline.ranking.v1.RankingService/Rank"


async def test_the_span_tells_of_every_hit_why_it_stands_there(
    ranking: RankingServiceStub, telemetry: RecordedTelemetry
) -> None:
    await ranking.Rank(request([1, 0], [1, 0], [0, 1]), timeout=5)
    # Relevance by rank: (1 / 61 - 1 / 161) / (2 / 61 - 1 / 161) = 0.383, and with 62 and 63 for 61 0.373 and 0.364.
    assert telemetry.spans()[-1].attributes["plumbline.ledger"] == (
        "c0 fused 0.383 x1 redundancy 0.000 fused:1 mmr:1",
        "c2 fused 0.364 x1 redundancy 0.000 fused:3 mmr:2",
        "c1 fused 0.373 x1 redundancy 1.000 fused:2 mmr:3",
    )
