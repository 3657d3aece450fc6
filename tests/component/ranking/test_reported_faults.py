"""What users of other systems reported about diversity and recency, asked of the real service."""

from collections.abc import AsyncIterator, Sequence

import numpy as np
import pytest

from plumbline.embedding.v1 import vectors_pb2
from plumbline.ranking.v1 import ranking_pb2 as pb
from plumbline.ranking.v1.ranking_pb2_grpc import RankingServiceStub
from services.ranking.settings import RankingServiceSettings
from services.ranking.wiring import build
from services.shared.clients.vectors import pack_vectors
from tests.fakes.serving import channel_to, recorded_telemetry, served

TODAY = "2026-11-30"
RECENCY = [
    pb.RecencyTier(up_to_years=1, multiplier=1.2), pb.RecencyTier(up_to_years=5, multiplier=1.0),
    pb.RecencyTier(multiplier=0.9),
]  # fmt: skip


@pytest.fixture
async def ranking() -> AsyncIterator[RankingServiceStub]:
    telemetry, settings = recorded_telemetry("ranking").telemetry, RankingServiceSettings(port=0)
    app = await build(settings, telemetry)
    async with served(app, settings, telemetry) as running, channel_to(running.target) as channel:
        yield RankingServiceStub(channel)


def unit(*rows: Sequence[float]) -> np.ndarray:
    matrix = np.array(rows, dtype=np.float32)
    return matrix / np.linalg.norm(matrix, axis=1, keepdims=True)


def window(
    relevance: Sequence[float], vectors: np.ndarray, *, dates: Sequence[str] = (), **settings: object
) -> pb.RankRequest:
    """Candidates c0, c1, ... of these relevances."""
    candidates = [
        pb.Candidate(id=f"c{place}", fused_score=score, vector_row=place, date=dates[place] if dates else "")
        for place, score in enumerate(relevance)
    ]
    return pb.RankRequest(
        candidates=candidates,
        vectors=pack_vectors(vectors, vectors_pb2.VECTOR_DTYPE_FLOAT32),
        settings=pb.RankingSettings(relevance=pb.RELEVANCE_FUSED, clock_date=TODAY, mmr_cosine_share=1.0, **settings),
        fused_top=1.0,
        fused_floor=0.0,
    )


async def order(ranking: RankingServiceStub, request: pb.RankRequest) -> list[str]:
    return [hit.id for hit in (await ranking.Rank(request, timeout=5)).ranked]


async def test_a_near_duplicate_of_the_first_pick_does_not_return_after_the_second(ranking: RankingServiceStub) -> None:
    # Case 7, run-llama/llama_index PR #22684: A, A', B, C; compared with the last pick only, A' came third.
    vectors = unit([0.90, 0.44, 0, 0], [0.88, 0.47, 0, 0], [0.70, 0, 0.71, 0], [0.65, 0, 0, 0.76])
    relevance = [float(row[0]) for row in vectors]  # the query is [1, 0, 0, 0]
    assert (await order(ranking, window(relevance, vectors, mmr=True, mmr_lambda=0.5)))[:3] == ["c0", "c2", "c3"]


NEAR_AND_FAR = unit([1, 0.1, 0], [1, 0.12, 0], [1, 0.14, 0], [0.3, 1, 0], [0.2, 0, 1])


async def test_lambda_1_is_plain_relevance_and_lambda_0_is_most_diverse(ranking: RankingServiceStub) -> None:
    # Case 8, langchain-ai/langchain #39052: lambda was inverted.
    relevance = [float(row[0]) for row in NEAR_AND_FAR]
    assert relevance == sorted(relevance, reverse=True)
    plain = await order(ranking, window(relevance, NEAR_AND_FAR, mmr=True, mmr_lambda=1.0))
    assert plain == await order(ranking, window(relevance, NEAR_AND_FAR)) == ["c0", "c1", "c2", "c3", "c4"]
    diverse = await order(ranking, window(relevance, NEAR_AND_FAR, mmr=True, mmr_lambda=0.0))
    assert set(diverse[1:3]) == {"c3", "c4"}


async def test_hits_come_in_the_order_of_the_picks(ranking: RankingServiceStub) -> None:
    # Case 9, julep-ai/julep PR #1374: the right set came in the order of the input.
    relevance = [float(row[0]) for row in NEAR_AND_FAR]
    response = await ranking.Rank(window(relevance, NEAR_AND_FAR, mmr=True, mmr_lambda=0.5), timeout=5)
    hits = [hit.id for hit in response.ranked]
    # After c0, relevance less redundancy is +0.001 for c4, -0.007 for c1, -0.01 for c2 and -0.09 for c3.
    assert hits == ["c0", "c4", "c1", "c2", "c3"]
    assert [hit.ledger.places[-1].place for hit in response.ranked] == [1, 2, 3, 4, 5]


@pytest.mark.parametrize(
    "date",
    ["2026-12-10", "2026-12-10T00:00:00Z", "2026-12-10T00:00:00", "2027", "", "soon", "2026-11-31", "1764460800"],
)
async def test_no_date_ahead_of_today_or_without_sense_gives_a_boost(ranking: RankingServiceStub, date: str) -> None:
    # Case 11, NousResearch/hermes-agent PR #62250: a date ten days ahead gave a boost above 1.
    request = window([0.5, 0.4], np.eye(2, dtype=np.float32), dates=[date, TODAY], recency_tiers=RECENCY)
    ledgers = {hit.id: hit.ledger for hit in (await ranking.Rank(request, timeout=5)).ranked}
    assert ledgers["c0"].multiplier == 1.0
    assert not ledgers["c0"].HasField("age_years")
    assert ledgers["c1"].multiplier == 1.2


async def test_a_time_in_utc_and_one_without_a_zone_count_alike(ranking: RankingServiceStub) -> None:
    # Case 11 as well: `Z` against naive times threw.
    dates = ["2026-11-20T00:00:00Z", "2026-11-20T00:00:00"]
    request = window([0.5, 0.4], np.eye(2, dtype=np.float32), dates=dates, recency_tiers=RECENCY)
    response = await ranking.Rank(request, timeout=5)
    assert len({hit.ledger.multiplier for hit in response.ranked}) == 1


@pytest.mark.parametrize("old", ["2025-11-30", "2016-11-30", "1950"])
async def test_an_exact_old_match_stays_before_a_vague_new_one(ranking: RankingServiceStub, old: str) -> None:
    # Case 12, vshulcz/deja-vu PR #2881: an unbounded decay turned the ranking into an order of dates.
    request = window([0.9, 0.2], np.eye(2, dtype=np.float32), dates=[old, "2026-11-29"], recency_tiers=RECENCY)
    assert await order(ranking, request) == ["c0", "c1"]


async def test_recency_moves_a_hit_by_the_places_that_it_may_and_no_more(ranking: RankingServiceStub) -> None:
    # Case 12 as well: nine old hits of nearly one relevance before a new one.
    request = window(
        [0.5 - place / 1000 for place in range(10)], np.eye(10, dtype=np.float32),
        dates=["1990"] * 9 + [TODAY], recency_tiers=RECENCY, recency_places=5,
    )  # fmt: skip
    assert (await order(ranking, request)).index("c9") == 4
