from math import log2

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.ingest.domain.ndcg import ndcg_at_10


def test_best_order_is_1() -> None:
    assert ndcg_at_10(["a", "b", "c"], {"a": 3, "b": 1, "c": 0}) == 1.0


def test_gain_falls_with_the_logarithm_of_the_rank() -> None:
    # Found: 1/log2(2) + 3/log2(3); the best: 3/log2(2) + 1/log2(3).
    assert ndcg_at_10(["b", "a"], {"a": 3, "b": 1}) == pytest.approx((1 + 3 / log2(3)) / (3 + 1 / log2(3)))


def test_document_counts_once_at_its_best_rank() -> None:
    assert ndcg_at_10(["a", "a", "b"], {"a": 1, "b": 1}) == 1.0


def test_eleventh_document_counts_nothing() -> None:
    assert ndcg_at_10([*"0123456789", "a"], {"a": 3}) == 0.0


def test_nothing_found_and_nothing_to_find_are_0() -> None:
    assert ndcg_at_10([], {"a": 1}) == 0.0
    assert ndcg_at_10(["a"], {"a": 0}) == ndcg_at_10(["a"], {}) == 0.0


@given(
    st.lists(st.sampled_from("abcdefghijklmnop")),
    st.dictionaries(st.sampled_from("abcdefghijklmnop"), st.integers(0, 3)),
)
def test_value_is_a_share(ranked: list[str], grades: dict[str, int]) -> None:
    assert 0.0 <= ndcg_at_10(ranked, grades) <= 1.0 + 1e-12
