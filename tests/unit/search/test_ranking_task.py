"""What a window is ranked by, as it is sent."""

import numpy as np
import pytest

from plumbline.ranking.v1 import ranking_pb2
from services.search.convert import ranking_task_to_proto
from services.search.domain.query import Mode
from services.search.domain.window import Candidate, LegRank
from services.search.ports import RankingTask
from services.shared.clients.vectors import unpack_vectors
from services.shared.index.chunk import Vector

EAST: Vector = np.array([1, 0], dtype=np.float32)
VECTORS = np.array([[0.6, 0.8], [0.8, 0.6], [0, 0]], dtype=np.float32)


def a_task(
    settings: ranking_pb2.RankingSettings,
    query_vector: Vector | None = EAST,
    query: str = "which?",
    *,
    explain: bool = False,
) -> RankingTask:
    """Of three candidates the vector leg found the first; the last has no vector."""
    missed = {Mode.KEYWORD: LegRank(1, 7.0, 0.1), Mode.VECTOR: LegRank()}
    candidates = (
        Candidate("found", 0.3, {Mode.KEYWORD: LegRank(), Mode.VECTOR: LegRank(1, 0.61, 0.2)}, exact=False),
        Candidate("missed", 0.2, missed, exact=False),
        Candidate("without", 0.1, missed, exact=False),
    )
    return RankingTask(
        candidates=candidates, dates=[""] * 3, attributes=[None] * 3, texts=["one", "two", "three"],
        contexts=["Title", "", ""], vectors=VECTORS, query=query, query_vector=query_vector, fused_top=1, fused_floor=0,
        settings=settings.SerializeToString(), explain=explain,
    )  # fmt: skip


def vector_legs(request: ranking_pb2.RankRequest) -> list[tuple[int, float | None, bool]]:
    legs = [candidate.vector for candidate in request.candidates]
    return [(leg.rank, leg.score if leg.HasField("score") else None, leg.completed) for leg in legs]


@pytest.mark.parametrize(
    "settings", [ranking_pb2.RankingSettings(mmr=True), ranking_pb2.RankingSettings(near_duplicate_cosine=0.95)]
)
def test_vectors_go_along_where_hits_are_compared_with_one_another(settings: ranking_pb2.RankingSettings) -> None:
    request = ranking_task_to_proto(a_task(settings))
    np.testing.assert_allclose(unpack_vectors(request.vectors, field="vectors"), VECTORS, atol=1e-3)
    assert [candidate.vector_row for candidate in request.candidates] == [0, 1, 2]


@pytest.mark.parametrize("explain", [True, False])
def test_ledgers_are_asked_for_where_someone_asks_why(explain: bool) -> None:
    request = ranking_task_to_proto(a_task(ranking_pb2.RankingSettings(), explain=explain))
    assert request.without_ledgers is not explain


def test_else_none_go() -> None:
    request = ranking_task_to_proto(a_task(ranking_pb2.RankingSettings()))
    assert not request.HasField("vectors")
    assert not any(candidate.HasField("vector_row") for candidate in request.candidates)


@pytest.mark.parametrize("settings", [ranking_pb2.RankingSettings(mmr=True), ranking_pb2.RankingSettings()])
def test_the_cosines_that_the_leg_did_not_give_are_completed(settings: ranking_pb2.RankingSettings) -> None:
    request = ranking_task_to_proto(a_task(settings))
    # The second vector's share along the query is 0.8; without a vector there is no cosine.
    assert vector_legs(request) == [(1, 0.61, False), (0, pytest.approx(0.8), True), (0, None, False)]


def test_without_the_querys_vector_nothing_is_completed() -> None:
    request = ranking_task_to_proto(a_task(ranking_pb2.RankingSettings(), query_vector=None))
    assert vector_legs(request) == [(1, 0.61, False), (0, None, False), (0, None, False)]


def test_query_and_passages_go_along_only_where_a_cross_encoder_reads_them() -> None:
    request = ranking_task_to_proto(a_task(ranking_pb2.RankingSettings(cross_encoder=True)))
    assert (request.query, [one.text for one in request.candidates]) == ("which?", ["Title\none", "two", "three"])
    without = ranking_task_to_proto(a_task(ranking_pb2.RankingSettings()))
    assert (without.query, {one.text for one in without.candidates}) == ("", {""})


def test_what_resembles_a_document_is_not_read_by_a_cross_encoder() -> None:
    request = ranking_task_to_proto(a_task(ranking_pb2.RankingSettings(cross_encoder=True), query=""))
    assert not request.settings.cross_encoder
    assert {one.text for one in request.candidates} == {""}
