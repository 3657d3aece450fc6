"""The absolute scale of fused relevance."""

import pytest

from services.ranking.domain.relevance import fused_relevance

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
