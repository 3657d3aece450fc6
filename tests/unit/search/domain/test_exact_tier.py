from hypothesis import given
from hypothesis import strategies as st

from services.search.domain.exact_tier import exact_first, exact_matches

PASSAGES = {
    "code": "Exercise E5_3: put the verb in the past.",
    "other code": "Exercise E5_31: put the verb in the future.",
    "plain": "An exercise about the past.",
}


def test_passages_with_the_code_are_exact_and_longer_codes_are_not() -> None:
    assert exact_matches("what is E5_3", PASSAGES) == {"code"}


def test_every_phrase_and_code_must_be_there() -> None:
    assert exact_matches('"the verb" E5_3', PASSAGES) == {"code"}
    assert exact_matches('"the noun" E5_3', PASSAGES) == frozenset()


def test_an_acronym_counts_only_in_a_query_that_is_not_all_capitals() -> None:
    passages = {"acronym": "TOIL is time off in lieu.", "word": "Hard work."}
    assert exact_matches("what is TOIL", passages) == {"acronym"}
    assert exact_matches("WHAT IS TOIL", passages) == frozenset()


def test_a_query_without_phrase_or_code_has_no_exact_passages() -> None:
    assert exact_matches("an exercise about the past", PASSAGES) == frozenset()


def test_exact_items_come_first_and_each_part_keeps_its_order() -> None:
    assert exact_first([3, 2, 5, 4], lambda number: number % 2 == 0) == [2, 4, 3, 5]


@given(st.lists(st.integers()))
def test_the_same_items_come_out(numbers: list[int]) -> None:
    tiered = exact_first(numbers, lambda number: number % 2 == 0)
    assert tiered == [n for n in numbers if n % 2 == 0] + [n for n in numbers if n % 2]
