import pytest

from services.search.domain.bm25 import Bm25
from services.search.domain.completion import with_exact_scores, with_keyword_scores
from services.search.domain.query import Mode
from services.search.domain.term_statistics import TermStatistics
from services.search.domain.window import Candidate, Found, LegRank

BM25 = Bm25.of(["a"], TermStatistics(chunks=4, tokens=12, frequencies={"a": 2}))
ANALYSED = {"found": "a x y", "not found": "a a y", "without": "x y z"}
VECTOR = LegRank(rank=1, score=0.5, fused_share=1 / 61)


def candidate(chunk_id: str, keyword: LegRank | None) -> Candidate:
    legs = {Mode.VECTOR: VECTOR} if keyword is None else {Mode.KEYWORD: keyword, Mode.VECTOR: VECTOR}
    return Candidate(chunk_id, fused_score=0.1, legs=legs, exact=False)


def completed(*candidates: Candidate) -> list[Candidate]:
    return with_keyword_scores(candidates, ANALYSED, BM25)


def test_a_candidate_that_the_leg_did_not_find_gets_its_score_without_a_rank() -> None:
    (after,) = completed(candidate("not found", LegRank()))

    assert after.legs[Mode.KEYWORD] == LegRank(0, pytest.approx(BM25.score("a a y")), 0.0, completed=True)
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


def found(**scores: float) -> list[Found]:
    return [Found(chunk_id.replace("_", " "), "d", score) for chunk_id, score in scores.items()]


ONCE, TWICE = BM25.score("a x y"), BM25.score("a a y")


def test_scores_of_an_engine_that_is_up_to_date_stay() -> None:
    given = found(not_found=TWICE * 1.0009, found=ONCE * 0.9991)

    assert with_exact_scores(given, ANALYSED, BM25) == given


def test_scores_of_an_engine_that_is_behind_are_computed_and_put_in_order() -> None:
    behind = found(found=9.0, not_found=8.0)

    assert with_exact_scores(behind, ANALYSED, BM25) == found(not_found=TWICE, found=ONCE)


def test_one_score_that_is_off_among_the_first_is_enough() -> None:
    assert with_exact_scores(found(not_found=TWICE, found=ONCE * 1.01), ANALYSED, BM25)[1].score == ONCE


def test_hits_of_one_computed_score_come_by_their_ids() -> None:
    same = {"b": "a x y", "a": "a y x"}

    computed = with_exact_scores([Found("b", "d", 9.0), Found("a", "d", 8.0)], same, BM25)

    assert [(one.chunk_id, one.score) for one in computed] == [("a", ONCE), ("b", ONCE)]


def test_nothing_found_has_no_scores() -> None:
    assert with_exact_scores([], {}, BM25) == []


@pytest.mark.parametrize("score", [0.0, ONCE])
def test_a_chunk_without_the_words_cannot_agree_with_a_score(score: float) -> None:
    computed = with_exact_scores([Found("without", "d", score)], ANALYSED, BM25)

    assert computed[0].score == 0.0
