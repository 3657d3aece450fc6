import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from loadtests.quality.chance import Mean, adjusted, change_of, mean_of

UNIFORM = list(np.random.default_rng(1).random(300))


def test_an_interval_of_many_values_is_what_the_normal_distribution_says() -> None:
    mean = mean_of(UNIFORM)
    # Uniform values have a standard deviation of 1/sqrt(12); 95 % is 1.96 of it over sqrt(300).
    half = 1.96 / np.sqrt(12 * 300)
    assert mean.value == pytest.approx(np.mean(UNIFORM))
    assert (mean.value - mean.low, mean.high - mean.value) == pytest.approx((half, half), rel=0.1)


def test_the_same_values_give_the_same_interval_each_time() -> None:
    assert mean_of(UNIFORM) == mean_of(UNIFORM)


def test_missing_values_are_left_out() -> None:
    assert mean_of([1.0, None, 1.0]) == Mean(1.0, 1.0, 1.0)


def test_one_value_has_no_spread_to_tell() -> None:
    assert mean_of([0.7]) == Mean(0.7, 0.7, 0.7)


def test_no_change_is_no_news() -> None:
    assert change_of(UNIFORM, UNIFORM).p == 1.0


def test_a_drop_in_most_queries_is_more_than_chance() -> None:
    change = change_of([value - 0.1 * (place % 3) for place, value in enumerate(UNIFORM)], UNIFORM)
    assert change.mean.value == pytest.approx(-0.1)
    assert change.mean.high < 0
    assert change.p < 0.001


def test_changes_that_go_both_ways_are_not() -> None:
    change = change_of([value + (0.1 if place % 2 else -0.1) for place, value in enumerate(UNIFORM)], UNIFORM)
    assert change.p > 0.5
    assert change.mean.low < 0 < change.mean.high


def test_two_queries_of_three_hundred_prove_nothing() -> None:
    assert change_of([0.0, 0.0, *UNIFORM[2:]], UNIFORM).p > 0.3


def test_a_pair_without_one_of_its_values_is_left_out() -> None:
    assert change_of([0.5, None, 0.5], [0.5, 0.1, None]) == change_of([0.5], [0.5])


def test_holm_asks_most_of_the_least() -> None:
    # 0.01 x 3, then 0.03 x 2, then 0.04 x 1, never falling below the one before.
    assert adjusted([0.04, 0.01, 0.03]) == pytest.approx([0.06, 0.03, 0.06])
    assert adjusted([0.9, 0.8]) == [1.0, 1.0]
    assert adjusted([]) == []


@settings(max_examples=50)
@given(st.lists(st.floats(0, 1), min_size=1, max_size=8))
def test_correction_keeps_the_order_and_never_lowers(chances: list[float]) -> None:
    corrected = adjusted(chances)
    assert all(before <= after <= 1 for before, after in zip(chances, corrected, strict=True))
    by_chance = [after for _, after in sorted(zip(chances, corrected, strict=True))]
    assert by_chance == sorted(by_chance)
