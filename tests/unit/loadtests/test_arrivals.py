import math
import random
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loadtests.arrivals import ARRIVALS, Pattern, constant, poisson


def gaps(due_s: list[float]) -> list[float]:
    return [after - before for before, after in pairwise(due_s)]


@pytest.mark.parametrize("pattern", ARRIVALS)
def test_the_same_seed_gives_the_same_schedule_and_another_seed_another(pattern: Pattern) -> None:
    first, again, other = (list(ARRIVALS[pattern](5, 60, random.Random(seed))) for seed in (1, 1, 2))
    assert first == again
    assert first != other


@pytest.mark.parametrize("pattern", ARRIVALS)
@given(st.floats(0.5, 200), st.floats(0.1, 20), st.integers())
def test_arrivals_rise_and_stay_inside_the_duration(pattern: Pattern, rate: float, duration: float, seed: int) -> None:
    due_s = list(ARRIVALS[pattern](rate, duration, random.Random(seed)))
    assert due_s == sorted(due_s)
    assert all(0 <= due < duration for due in due_s)


def test_constant_arrivals_have_equal_gaps_at_the_rate() -> None:
    due_s = list(constant(4, 10, random.Random(0)))
    assert len(due_s) == 40
    assert gaps(due_s) == pytest.approx([0.25] * 39)


def test_poisson_arrivals_have_the_rate_and_the_spread_of_independent_callers() -> None:
    due_s = list(poisson(50, 1000, random.Random(0)))
    # 50,000 expected; the standard deviation of a Poisson count is its root, 224.
    assert abs(len(due_s) - 50_000) < 4 * math.sqrt(50_000)
    mean = 1 / 50
    assert sum(gaps(due_s)) / len(gaps(due_s)) == pytest.approx(mean, rel=0.02)
    # Exponential: the share of gaps over the mean is 1/e.
    assert sum(gap > mean for gap in gaps(due_s)) / len(gaps(due_s)) == pytest.approx(1 / math.e, abs=0.01)
