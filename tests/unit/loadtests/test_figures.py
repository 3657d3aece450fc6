import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from loadtests.figures import Figures, Spread, enough_for, figures
from loadtests.recording import histogram, record


def of_ms(values: list[float]) -> Figures:
    counted = histogram()
    for value in values:
        record(counted, value / 1000)
    return figures(counted)


def test_quantiles_are_those_of_the_values_in_milliseconds() -> None:
    found = of_ms([float(value) for value in range(1, 1001)])
    assert found.count == 1000
    assert (found.p50, found.p90, found.p95, found.p99, found.max) == pytest.approx(
        (500, 900, 950, 990, 1000), rel=2e-3
    )


def test_the_spread_of_a_quantile_is_that_of_its_rank() -> None:
    # Ranks of the p95 of 1,000: 950 and 1.96 times the root of 1000 x 0.95 x 0.05 = 6.9 to either side.
    spread = of_ms([float(value) for value in range(1, 1001)]).spread["p95"]
    assert (spread.low, spread.high) == pytest.approx((936.5, 963.5), abs=2)


@settings(max_examples=30, deadline=None)
@given(st.lists(st.floats(0.01, 10_000), min_size=1, max_size=300))
def test_a_quantile_lies_in_its_spread_and_figures_rise(values: list[float]) -> None:
    found = of_ms(values)
    assert found.p50 <= found.p90 <= found.p95 <= found.p99 <= found.max
    for name, spread in found.spread.items():
        assert spread.low <= getattr(found, name) <= spread.high <= found.max


def test_one_value_is_every_quantile() -> None:
    found = of_ms([20.0])
    assert [found.p50, found.p99, found.max, found.spread["p50"].low] == pytest.approx([20] * 4, rel=1e-3)


@pytest.mark.parametrize(("quantile", "count"), [(0.5, 2), (0.9, 10), (0.95, 20), (0.99, 100)])
def test_a_quantile_needs_enough_values_to_lie_below_the_largest(quantile: float, count: int) -> None:
    assert enough_for(quantile) == count


def test_intervals_overlap_when_they_share_a_value() -> None:
    assert Spread(low=1, high=2).overlaps(Spread(low=2, high=3))
    assert not Spread(low=1, high=2).overlaps(Spread(low=2.1, high=3))
    assert not Spread(low=2.1, high=3).overlaps(Spread(low=1, high=2))
