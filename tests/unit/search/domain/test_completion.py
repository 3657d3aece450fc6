import pytest

from services.search.domain.bm25 import bm25
from services.search.domain.completion import with_keyword_scores
from services.search.domain.query import Mode
from services.search.domain.term_statistics import TermStatistics
from services.search.domain.window import Candidate, LegRank

STATISTICS = TermStatistics(chunks=4, tokens=12, frequencies={"a": 2})
ANALYSED = {"found": "a x y", "not found": "a a y", "without": "x y z"}
VECTOR = LegRank(rank=1, score=0.5, fused_share=1 / 61)


def candidate(chunk_id: str, keyword: LegRank | None) -> Candidate:
    legs = {Mode.VECTOR: VECTOR} if keyword is None else {Mode.KEYWORD: keyword, Mode.VECTOR: VECTOR}
    return Candidate(chunk_id, fused_score=0.1, legs=legs, exact=False)


def completed(*candidates: Candidate) -> list[Candidate]:
    return with_keyword_scores(candidates, ANALYSED, ["a"], STATISTICS)


def test_a_candidate_that_the_leg_did_not_find_gets_its_score_without_a_rank() -> None:
    (after,) = completed(candidate("not found", LegRank()))

    assert after.legs[Mode.KEYWORD] == LegRank(0, pytest.approx(bm25("a a y", ["a"], STATISTICS)), 0.0, completed=True)
    assert after.legs[Mode.VECTOR] == VECTOR


def test_a_chunk_without_the_words_has_a_score_of_nothing() -> None:
    (after,) = completed(candidate("without", LegRank()))

    assert after.legs[Mode.KEYWORD] == LegRank(0, 0.0, 0.0, completed=True)


def test_the_leg_s_own_score_stays() -> None:
    found = candidate("found", LegRank(rank=2, score=7.5, fused_share=1 / 62))

    assert completed(found) == [found]


def test_nothing_is_completed_where_the_leg_did_not_run() -> None:
    only_vector = candidate("not found", None)

    assert completed(only_vector) == [only_vector]


def test_candidates_keep_their_order() -> None:
    window = [candidate(chunk_id, LegRank()) for chunk_id in ("without", "found", "not found")]

    assert [after.chunk_id for after in completed(*window)] == ["without", "found", "not found"]
