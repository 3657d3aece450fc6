"""MMR as a specification: which pick wins, what redundancy is, and how ties end."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.ranking.domain.mmr import mmr, redundancy_matrix

QUERY = np.array([1, 0, 0, 0], dtype=np.float32)


def unit(*rows: list[float]) -> np.ndarray:
    vectors = np.array(rows, dtype=np.float32)
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def picked(relevance: list[float], redundancy: np.ndarray, trade_off: float, limit: int) -> list[int]:
    return [pick.index for pick in mmr(relevance, redundancy, trade_off=trade_off, limit=limit)]


def test_a_near_duplicate_of_an_earlier_pick_does_not_return_after_an_unlike_one() -> None:
    # A, A', B, C: an implementation that looks at the last pick only takes A' again after B.
    vectors = unit([0.90, 0.44, 0, 0], [0.88, 0.47, 0, 0], [0.70, 0, 0.71, 0], [0.65, 0, 0, 0.76])
    relevance = [float(row @ QUERY) for row in vectors]
    redundancy = redundancy_matrix(vectors, [None] * 4, cosine_share=1.0)
    assert picked(relevance, redundancy, 0.5, 3) == [0, 2, 3]


def test_trade_off_one_is_pure_relevance_and_picks_come_in_pick_order() -> None:
    relevance = [0.2, 0.9, 0.5]
    assert picked(relevance, np.ones((3, 3)), 1.0, 3) == [1, 2, 0]


def test_ties_go_to_the_lower_index() -> None:
    assert picked([0.5, 0.5, 0.5], np.eye(3), 0.6, 3) == [0, 1, 2]


def test_gain_and_redundancy_of_each_pick_are_told() -> None:
    redundancy = np.array([[1.0, 0.8], [0.8, 1.0]])
    first, second = mmr([1.0, 0.5], redundancy, trade_off=0.6, limit=2)
    assert (first.gain, first.redundancy) == (0.6, 0.0)
    assert second.redundancy == 0.8
    assert second.gain == pytest.approx(0.6 * 0.5 - 0.4 * 0.8)


def test_a_missing_attribute_equals_nothing_not_even_itself() -> None:
    redundancy = redundancy_matrix(np.zeros((3, 1), np.float32), ["law", None, None], cosine_share=0.5)
    assert redundancy[0, 0] == 0.5
    assert redundancy[1, 2] == 0.0
    assert redundancy[1, 1] == 0.0


def test_a_zero_vector_is_similar_to_nothing() -> None:
    redundancy = redundancy_matrix(np.array([[1, 0], [0, 0]], np.float32), ["a", "b"], cosine_share=1.0)
    assert redundancy[1].tolist() == [0.0, 0.0]


def test_nan_and_unequal_shapes_are_refused() -> None:
    with pytest.raises(ValueError, match="NaN"):
        mmr([float("nan")], np.zeros((1, 1)), trade_off=0.5, limit=1)
    with pytest.raises(ValueError, match="entries"):
        mmr([0.1, 0.2], np.zeros((1, 1)), trade_off=0.5, limit=1)


def test_nothing_in_gives_nothing_out() -> None:
    assert mmr([], np.zeros((0, 0)), trade_off=0.5, limit=5) == []


@given(
    st.lists(st.floats(0, 1), min_size=1, max_size=25), st.floats(0, 1), st.integers(1, 40), st.integers(0, 2**32 - 1)
)
def test_picks_equal_the_plain_definition(relevance: list[float], trade_off: float, limit: int, seed: int) -> None:
    vectors = unit(*np.random.default_rng(seed).normal(size=(len(relevance), 8)).tolist())
    redundancy = redundancy_matrix(vectors, [None] * len(relevance), cosine_share=1.0)
    chosen: list[int] = []
    while len(chosen) < min(limit, len(relevance)):
        gains = {
            index: trade_off * relevance[index]
            - (1 - trade_off) * max((redundancy[index, pick] for pick in chosen), default=0.0)
            for index in range(len(relevance))
            if index not in chosen
        }
        chosen.append(max(gains, key=lambda index: (gains[index], -index)))
    assert picked(relevance, redundancy, trade_off, limit) == chosen
