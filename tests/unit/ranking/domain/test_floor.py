"""The attribute floor: who is lifted, who gives way, and that nothing else moves."""

from hypothesis import given
from hypothesis import strategies as st

from services.ranking.domain.floor import Lift, attribute_floor

attributes = st.lists(st.sampled_from(["a", "b", "c", "d", None]), max_size=40)


def test_the_lowest_ranked_surplus_hit_gives_way_to_the_first_new_value_below() -> None:
    given_order = ["a", "b", "a", "b", "c", "d"]
    order, lifts = attribute_floor(given_order, parts=[0] * 6, min_distinct=3, within=4)
    assert order == [0, 1, 2, 4, 3, 5]
    assert lifts == [Lift(lifted=4, gave_way=3)]


def test_enough_values_change_nothing() -> None:
    assert attribute_floor(["a", "b", "a"], parts=[0] * 3, min_distinct=2, within=2) == ([0, 1, 2], [])


def test_a_hit_without_a_value_gives_way_before_a_value_is_lost() -> None:
    order, _ = attribute_floor(["a", None, "b"], parts=[0] * 3, min_distinct=2, within=2)
    assert order == [0, 2, 1]


def test_no_hit_crosses_from_one_part_into_another() -> None:
    order, lifts = attribute_floor(["a", "a", "b"], parts=[True, True, False], min_distinct=2, within=2)
    assert (order, lifts) == ([0, 1, 2], [])


@given(attributes, st.integers(0, 5), st.integers(1, 25))
def test_the_first_places_hold_as_many_values_as_the_window_allows(
    values: list[str | None], min_distinct: int, within: int
) -> None:
    order, _ = attribute_floor(values, parts=[0] * len(values), min_distinct=min_distinct, within=within)
    assert sorted(order) == list(range(len(values)))
    distinct = {values[index] for index in order[:within]} - {None}
    assert len(distinct) >= min(min_distinct, within, len(set(values) - {None}))


@given(attributes, st.integers(0, 5), st.integers(1, 25))
def test_hits_that_neither_rose_nor_gave_way_keep_their_order(
    values: list[str | None], min_distinct: int, within: int
) -> None:
    order, lifts = attribute_floor(values, parts=[0] * len(values), min_distinct=min_distinct, within=within)
    moved = {index for lift in lifts for index in (lift.lifted, lift.gave_way)}
    still = [index for index in order if index not in moved]
    assert still == sorted(still)
