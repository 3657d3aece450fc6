from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.search.domain.fusion import Ballot, Fused, highest_score, reciprocal_rank_fusion, score_below

KEYS = st.lists(st.sampled_from("abcdefghij"), max_size=12)
BALLOTS = st.lists(st.builds(Ballot, KEYS, st.floats(0.01, 10)), max_size=3)


def fuse(*keys: str, k: int = 60) -> list[str]:
    return [fused.key for fused in reciprocal_rank_fusion([Ballot(list(ballot)) for ballot in keys], k=k)]


def by_key(fused: list[Fused]) -> dict[str, Fused]:
    return {hit.key: hit for hit in fused}


def test_key_in_both_ballots_beats_keys_in_one_and_absence_adds_nothing() -> None:
    # Case 1, huggingface/sentence-transformers PR #3883: absent keys earned a score, and ranks began at 0.
    # Y: 1/63 + 1/63 = 0.0317; X and b: 1/61 = 0.0164; a and c: 1/62.
    assert fuse("XaY", "bcY") == ["Y", "X", "b", "a", "c"]


def test_scores_are_weights_over_k_plus_rank_from_one() -> None:
    fused = by_key(reciprocal_rank_fusion([Ballot("ab", 2.0), Ballot("b", 0.5)], k=10))
    assert fused["a"].score == pytest.approx(2 / 11)
    assert fused["b"].score == pytest.approx(2 / 12 + 0.5 / 11)
    assert (fused["b"].ranks, fused["a"].ranks) == ((2, 1), (1, 0))
    assert fused["a"].shares == (pytest.approx(2 / 11), 0.0)


def test_a_key_votes_once_in_each_ballot_and_ranks_stay_dense() -> None:
    # Case 3, langchain-ai/langchain #37046: a document voted once for each of its chunks.
    # Three chunks of doc1 before one of doc3 in the first ballot: doc3 is second there, not fourth.
    fused = by_key(reciprocal_rank_fusion([Ballot(["1", "1", "1", "3"]), Ballot(["2"])], k=60))
    assert fused["1"].score == fused["2"].score == pytest.approx(1 / 61)
    assert fused["3"].ranks == (2, 0)


def test_keys_are_told_apart_by_their_whole_id() -> None:
    # Cases 4 and 5, langchain-ai/langchain #38627, param20h/PDF-Assistant-RAG #634: keys were texts, or parts of them.
    # Two chunks with the same first 200 characters, or the same text from two sources, have ids of their own.
    shared = "x" * 200
    assert len(reciprocal_rank_fusion([Ballot([shared + "1", shared + "2"]), Ballot([shared + "2"])], k=60)) == 2


def test_a_tie_goes_to_the_earlier_ballot() -> None:
    assert fuse("b", "a") == ["b", "a"]


def test_a_tie_in_the_same_ballots_goes_to_the_better_rank_in_the_first() -> None:
    assert fuse("ba", "ab") == ["b", "a"]


def test_nothing_gives_nothing() -> None:
    assert reciprocal_rank_fusion([], k=60) == []
    assert fuse("", "") == []


def test_one_ballot_keeps_its_order() -> None:
    assert fuse("cab") == ["c", "a", "b"]


def test_the_scale_runs_from_below_the_lightest_ballot_to_first_in_all() -> None:
    ballots = [Ballot("a", 2.0), Ballot("a", 0.5)]
    (first,) = reciprocal_rank_fusion(ballots, k=60)
    assert highest_score([2.0, 0.5], k=60) == first.score
    assert score_below([2.0, 0.5], k=60, depth=100) == 0.5 / 161


@given(BALLOTS)
def test_every_key_comes_once_best_first(ballots: list[Ballot]) -> None:
    fused = reciprocal_rank_fusion(ballots, k=60)
    assert sorted(hit.key for hit in fused) == sorted({key for ballot in ballots for key in ballot.keys})
    assert all(better.score >= worse.score for better, worse in pairwise(fused))


@given(BALLOTS)
def test_a_key_ahead_in_every_ballot_is_ahead_in_the_end(ballots: list[Ballot]) -> None:
    ahead = [Ballot(["first", *ballot.keys], ballot.weight) for ballot in ballots]
    fused = reciprocal_rank_fusion(ahead, k=60)
    assert not ballots or fused[0].key == "first"


@given(BALLOTS)
def test_scores_lie_on_the_scale(ballots: list[Ballot]) -> None:
    weights = [ballot.weight for ballot in ballots]
    for hit in reciprocal_rank_fusion(ballots, k=60):
        assert score_below(weights, k=60, depth=12) < hit.score <= highest_score(weights, k=60)


@given(BALLOTS)
def test_the_same_ballots_give_the_same_order_whatever_came_before(ballots: list[Ballot]) -> None:
    assert reciprocal_rank_fusion(ballots, k=60) == reciprocal_rank_fusion(ballots, k=60)
