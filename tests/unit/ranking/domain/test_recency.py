"""Age, tiers, and the bound on how far recency moves a hit."""

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.ranking.domain.recency import age_in_years, bounded_order, multiplier
from services.ranking.domain.window import RecencyTier

TODAY = date(2026, 11, 30)
TIERS = (RecencyTier(1, 1.2), RecencyTier(5, 1.0), RecencyTier(None, 0.9))


@pytest.mark.parametrize(
    ("text", "age"),
    [
        ("2026-11-30", 0),
        ("2025-12-01", 0),  # a day short of a year
        ("2025-11-30", 1),
        ("2024-02-29", 2),
        ("2026", 0),  # starts on 1 January
        ("2021", 5),
        ("2020-12", 5),  # starts on 1 December: five whole years until 1 December 2026 is not reached
        ("2020-11", 6),
        ("0001", 2025),
    ],
)
def test_age_counts_whole_calendar_years_from_the_start_of_the_period(text: str, age: int) -> None:
    assert age_in_years(text, TODAY) == age


@pytest.mark.parametrize(
    "text", ["", "2026-12-01", "9999", "2026-13", "2026-02-30", "20-1-1", "yesterday", "2026-1-1", "２０２１"]
)
def test_missing_malformed_and_future_dates_have_no_age_and_no_boost(text: str) -> None:
    age = age_in_years(text, TODAY)
    assert age is None
    assert multiplier(age, TIERS) == 1.0


def test_a_leap_day_turns_a_year_older_on_the_first_of_march() -> None:
    assert age_in_years("2024-02-29", date(2025, 2, 28)) == 0
    assert age_in_years("2024-02-29", date(2025, 3, 1)) == 1


@pytest.mark.parametrize(("age", "factor"), [(0, 1.2), (1, 1.2), (2, 1.0), (5, 1.0), (6, 0.9), (300, 0.9)])
def test_the_first_tier_that_holds_gives_the_factor(age: int, factor: float) -> None:
    assert multiplier(age, TIERS) == factor


def test_no_tier_that_holds_leaves_the_score_alone() -> None:
    assert multiplier(9, (RecencyTier(5, 1.5),)) == 1.0
    assert multiplier(3, ()) == 1.0


def test_ties_go_to_the_earlier_fused_place() -> None:
    assert bounded_order([0.5, 0.5, 0.5], places=5, keep_first=False) == [0, 1, 2]


def test_the_first_fused_hit_sinks_five_places_at_most_and_the_twelfth_rises_five_at_most() -> None:
    # The first hit has the lowest final score, the twelfth the highest: unbounded, they would swap ends.
    finals = [0.1] + [0.5] * 10 + [0.9]
    order = bounded_order(finals, places=5, keep_first=False)
    assert order.index(0) == 5  # place 6
    assert order.index(11) == 6  # place 7
    unbounded = bounded_order(finals, places=len(finals), keep_first=False)
    assert (unbounded[0], unbounded[-1]) == (11, 0)


def test_a_kept_first_hit_stays_first() -> None:
    assert bounded_order([0.1, 0.9, 0.8], places=5, keep_first=True)[0] == 0


@given(st.lists(st.floats(0, 1.2), max_size=60), st.integers(0, 12), st.booleans())
def test_every_hit_stands_once_and_within_the_bound(finals: list[float], places: int, keep_first: bool) -> None:
    order = bounded_order(finals, places=places, keep_first=keep_first)
    assert sorted(order) == list(range(len(finals)))
    assert all(abs(place - fused) <= places for place, fused in enumerate(order))


@given(st.lists(st.tuples(st.floats(0, 1), st.sampled_from([0.9, 1.0, 1.2])), max_size=40), st.integers(0, 8))
def test_two_hits_of_the_same_tier_never_change_their_order(hits: list[tuple[float, float]], places: int) -> None:
    hits = sorted(hits, key=lambda hit: -hit[0])
    order = bounded_order([relevance * factor for relevance, factor in hits], places=places, keep_first=False)
    for factor in (0.9, 1.0, 1.2):
        same = [index for index in order if hits[index][1] == factor]
        assert same == sorted(same)
