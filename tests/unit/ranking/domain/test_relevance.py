"""The absolute scale of fused relevance, and the joined raw scores of completed relevance."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.ranking.domain.relevance import completed_relevance, fused_relevance, sigmoid_relevance

TOP, FLOOR = 2 / 61, 1 / 161  # two legs of weight 1, k = 60, depth 100


def test_first_in_both_legs_is_one_and_below_the_depth_is_zero() -> None:
    assert fused_relevance([TOP, FLOOR], top=TOP, floor=FLOOR) == [1.0, 0.0]


def test_first_in_one_leg_alone_is_worth_well_under_half() -> None:
    # (1/61 - 1/161) / (2/61 - 1/161) = 0.01018 / 0.02658
    assert fused_relevance([1 / 61], top=TOP, floor=FLOOR) == [pytest.approx(0.3832, abs=1e-4)]


def test_values_outside_the_scale_are_cut_to_it() -> None:
    assert fused_relevance([1.0, -1.0], top=TOP, floor=FLOOR) == [1.0, 0.0]


def test_a_scale_without_length_is_refused() -> None:
    with pytest.raises(ValueError, match="above"):
        fused_relevance([0.1], top=0.1, floor=0.1)


def test_both_scores_are_standardised_before_they_are_joined() -> None:
    # z of 12, 6, 0 is 1.2247, 0, -1.2247; z of .2, .4, .9 is -1.0190, -0.3397, 1.3587. Joined by half: .1029, -.1698,
    # .0670; over [-.1698, .1029] that is 1, 0, .8685.
    assert completed_relevance([12, 6, 0], [0.2, 0.4, 0.9], cosine_share=0.5) == pytest.approx([1, 0, 0.8685], abs=1e-4)


def test_the_share_of_the_cosine_decides_at_its_ends() -> None:
    keyword, cosines = [3.0, 1.0, 2.0], [0.1, 0.3, 0.5]
    assert completed_relevance(keyword, cosines, cosine_share=1) == pytest.approx([0, 0.5, 1])
    assert completed_relevance(keyword, cosines, cosine_share=0) == pytest.approx([1, 0, 0.5])


def test_a_score_that_is_the_same_everywhere_decides_nothing() -> None:
    assert completed_relevance([0.1] * 3, [0.1, 0.3, 0.5], cosine_share=0.6) == pytest.approx([0, 0.5, 1])


def test_hits_that_are_all_alike_are_all_fully_relevant() -> None:
    assert completed_relevance([2.0, 2.0], [0.4, 0.4], cosine_share=0.6) == [1.0, 1.0]
    assert completed_relevance([2.0], [0.4], cosine_share=0.6) == [1.0]
    assert completed_relevance([], [], cosine_share=0.6) == []


@pytest.mark.parametrize("bad", [math.nan, math.inf])
def test_scores_that_are_no_finite_numbers_are_refused(bad: float) -> None:
    with pytest.raises(ValueError, match="finite"):
        completed_relevance([1.0, bad], [0.1, 0.2], cosine_share=0.6)


def test_lists_of_unequal_length_are_refused() -> None:
    with pytest.raises(ValueError, match="2 keyword scores and 1 cosines"):
        completed_relevance([1.0, 2.0], [0.1], cosine_share=0.6)


@given(st.lists(st.tuples(st.floats(0, 60), st.floats(-1, 1)), min_size=1, max_size=40), st.floats(0, 1))
def test_a_hit_that_is_first_in_both_scores_is_fully_relevant(
    scores: list[tuple[float, float]], cosine_share: float
) -> None:
    keyword = [score for score, _ in scores] + [61.0]
    cosines = [cosine for _, cosine in scores] + [1.0]
    relevance = completed_relevance(keyword, cosines, cosine_share=cosine_share)
    assert relevance[-1] == pytest.approx(1.0)
    assert all(0 <= value <= 1 for value in relevance)


def test_a_sigmoid_puts_raw_scores_between_zero_and_one_without_overflow() -> None:
    # 1 / (1 + exp(-2)) = 0.8808, 1 / (1 + exp(1)) = 0.2689.
    assert sigmoid_relevance([2.0, 0.0, -1.0]) == pytest.approx([0.8808, 0.5, 0.2689], abs=1e-4)
    assert sigmoid_relevance([1e6, -1e6]) == [1.0, 0.0]
    with pytest.raises(ValueError, match="finite"):
        sigmoid_relevance([math.nan])
