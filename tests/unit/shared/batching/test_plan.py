"""The planner: within the budget, nothing lost, order kept, nobody overtaken for ever."""

from collections.abc import Callable, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.shared.batching.plan import leading_batch, padded_tokens, similar_batch, tokens_within

Plan = Callable[..., list[int]]
LENGTHS = st.lists(st.integers(1, 300), min_size=1, max_size=60)
BUDGETS = st.integers(1, 2000)
both_plans = pytest.mark.parametrize("plan", [leading_batch, similar_batch])


def drained(plan: Plan, lengths: Sequence[int], max_tokens: int) -> list[list[int]]:
    """Batches of indices into `lengths` until nothing waits."""
    waiting, batches = list(range(len(lengths))), []
    while waiting:
        chosen = plan([lengths[index] for index in waiting], max_tokens=max_tokens)
        batches.append([waiting[place] for place in chosen])
        waiting = [index for place, index in enumerate(waiting) if place not in set(chosen)]
    return batches


@both_plans
@given(lengths=LENGTHS, max_tokens=BUDGETS)
def test_a_batch_is_within_the_budget_unless_it_is_one_item(plan: Plan, lengths: list[int], max_tokens: int) -> None:
    chosen = plan(lengths, max_tokens=max_tokens)
    assert len(chosen) == 1 or padded_tokens([lengths[index] for index in chosen]) <= max_tokens


@both_plans
@given(lengths=LENGTHS, max_tokens=BUDGETS)
def test_every_item_is_in_exactly_one_batch(plan: Plan, lengths: list[int], max_tokens: int) -> None:
    batches = drained(plan, lengths, max_tokens)
    assert sorted(index for batch in batches for index in batch) == list(range(len(lengths)))


@both_plans
@given(lengths=LENGTHS, max_tokens=BUDGETS)
def test_the_item_that_waits_longest_is_always_taken(plan: Plan, lengths: list[int], max_tokens: int) -> None:
    assert plan(lengths, max_tokens=max_tokens)[0] == 0


@both_plans
def test_nothing_waiting_makes_an_empty_batch(plan: Plan) -> None:
    assert plan([], max_tokens=10) == []


@given(lengths=LENGTHS, max_tokens=BUDGETS)
def test_a_leading_batch_keeps_the_order_of_arrival(lengths: list[int], max_tokens: int) -> None:
    order = [index for batch in drained(leading_batch, lengths, max_tokens) for index in batch]
    assert order == list(range(len(lengths)))


@given(lengths=LENGTHS, max_tokens=BUDGETS)
def test_a_leading_batch_is_as_long_as_the_budget_allows(lengths: list[int], max_tokens: int) -> None:
    taken = len(leading_batch(lengths, max_tokens=max_tokens))
    assert taken == len(lengths) or padded_tokens(lengths[: taken + 1]) > max_tokens


@given(lengths=LENGTHS, max_tokens=BUDGETS)
def test_a_similar_batch_leaves_out_no_item_whose_length_lies_between_two_taken_ones(
    lengths: list[int], max_tokens: int
) -> None:
    chosen = similar_batch(lengths, max_tokens=max_tokens)
    taken = [lengths[index] for index in chosen]
    left = [length for index, length in enumerate(lengths) if index not in chosen]
    assert not any(min(taken) < length < max(taken) for length in left)


@given(lengths=LENGTHS, max_tokens=BUDGETS)
def test_a_similar_batch_holds_as_many_tokens_as_any_run_with_the_first_item(
    lengths: list[int], max_tokens: int
) -> None:
    by_length = sorted(range(len(lengths)), key=lengths.__getitem__)
    runs = [by_length[start:end] for end in range(len(lengths) + 1) for start in range(end)]
    fitting = [
        sum(lengths[index] for index in run)
        for run in runs
        if 0 in run and padded_tokens([lengths[index] for index in run]) <= max_tokens
    ]
    chosen = similar_batch(lengths, max_tokens=max_tokens)
    assert sum(lengths[index] for index in chosen) == max(fitting, default=lengths[0])


def test_short_items_do_not_pad_a_long_one() -> None:
    # 64 short items and one of 256 tokens: together they would cost 65 * 256.
    lengths = [16] * 64 + [256]
    assert drained(similar_batch, lengths, 1024) == [list(range(64)), [64]]


def test_equal_lengths_go_in_order_of_arrival() -> None:
    assert drained(similar_batch, [10, 10, 10, 10, 10], 20) == [[0, 1], [2, 3], [4]]


def test_a_batch_is_sized_by_the_pace_of_the_one_that_was_tried() -> None:
    # 512 tokens in 0.125 s: 1,024 in 0.25 s.
    assert tokens_within(0.25, tried_tokens=512, tried_s=0.125, most=4096) == 1024
    assert tokens_within(0.25, tried_tokens=512, tried_s=0.0125, most=4096) == 4096


@pytest.mark.parametrize(("tried_s", "tokens"), [(1000.0, 1), (0.0, 4096)])
def test_a_size_is_never_below_one_token_nor_over_the_most(tried_s: float, tokens: int) -> None:
    assert tokens_within(0.15, tried_tokens=16, tried_s=tried_s, most=4096) == tokens
