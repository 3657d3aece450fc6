import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.search.domain.bm25 import Bm25
from services.search.domain.term_statistics import TermStatistics

# Four chunks of 3 tokens on average; `a` is in two of them, `b` in one.
STATISTICS = TermStatistics(chunks=4, tokens=12, frequencies={"a": 2, "b": 1})
AB = Bm25.of(["a", "b"], STATISTICS)


def bm25(analysed: str, *tokens: str) -> float:
    return Bm25.of(tokens, STATISTICS).score(analysed)


IDF_A = math.log(1 + 2.5 / 2.5)
IDF_B = math.log(1 + 3.5 / 1.5)


def test_a_chunk_of_mean_length_scores_idf_for_one_occurrence() -> None:
    # tf (k1 + 1) / (tf + k1) = 2.2 / 2.2
    assert bm25("a x y", "a") == pytest.approx(IDF_A)


def test_more_occurrences_add_less_and_less() -> None:
    # 2 * 2.2 / (2 + 1.2)
    assert bm25("a a y", "a") == pytest.approx(IDF_A * 1.375)


def test_a_long_chunk_scores_less() -> None:
    # norm = 1.2 * (0.25 + 0.75 * 6 / 3) = 2.1; 2.2 / (1 + 2.1)
    assert bm25("a x y z x y", "a") == pytest.approx(IDF_A * 2.2 / 3.1)


def test_tokens_add_up() -> None:
    assert bm25("a b x", "a", "b", "c") == pytest.approx(IDF_A + IDF_B)


def test_a_chunk_without_any_token_scores_nothing() -> None:
    assert bm25("x y z", "a") == 0
    assert bm25("", "a") == 0
    assert bm25("a") == 0


def test_a_token_that_is_part_of_another_is_not_counted() -> None:
    assert bm25("w:abc s:ab x", "w:ab", "s:abc") == 0


@given(st.lists(st.sampled_from("abxyz"), max_size=60))
def test_no_chunk_reaches_the_highest_score(words: list[str]) -> None:
    assert AB.score(" ".join(words)) < AB.highest


@given(st.permutations(["a", "a", "b", "x", "y"]))
def test_the_order_of_tokens_does_not_change_a_score(words: list[str]) -> None:
    assert AB.score(" ".join(words)) == AB.score("a a b x y")
