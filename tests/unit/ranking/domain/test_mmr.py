"""MMR as a specification: which pick wins, what redundancy is, and how ties end."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.ranking.domain.mmr import mmr
from services.ranking.domain.window import Matrix

QUERY = np.array([1, 0, 0, 0], dtype=np.float32)
# A, a near-duplicate of it, B and C.
TRAP = np.array([[0.90, 0.44, 0, 0], [0.88, 0.47, 0, 0], [0.70, 0, 0.71, 0], [0.65, 0, 0, 0.76]], dtype=np.float32)


def picked(relevance: list[float], vectors: Matrix, trade_off: float, limit: int) -> list[int]:
    attributes = [None] * len(relevance)
    picks = mmr(relevance, vectors, attributes, trade_off=trade_off, cosine_share=1.0, limit=limit)
    return [pick.index for pick in picks]


def apart(count: int) -> Matrix:
    """Vectors that are all at right angles."""
    return np.eye(count, dtype=np.float32)


def test_a_near_duplicate_of_an_earlier_pick_does_not_return_after_an_unlike_one() -> None:
    # An implementation that looks at the last pick only takes the near-duplicate after B.
    assert picked([float(row @ QUERY) for row in TRAP], TRAP, 0.5, 3) == [0, 2, 3]


def test_trade_off_one_is_pure_relevance_and_picks_come_in_pick_order() -> None:
    alike = np.ones((3, 1), dtype=np.float32)
    assert picked([0.2, 0.9, 0.5], alike, 1.0, 3) == [1, 2, 0]


def test_ties_go_to_the_lower_index() -> None:
    assert picked([0.5, 0.5, 0.5], apart(3), 0.6, 3) == [0, 1, 2]


@given(st.integers(1, 60), st.integers(0, 2**32 - 1))
def test_equal_vectors_tie_wherever_they_stand(count: int, seed: int) -> None:
    vector = np.random.default_rng(seed).normal(size=(1, 33)).astype(np.float32)
    alike = np.repeat(vector / np.linalg.norm(vector), count, axis=0)
    assert picked([0.5] * count, alike, 0.3, count) == list(range(count))


def test_gain_and_redundancy_of_each_pick_are_told() -> None:
    vectors = np.array([[1, 0], [0.8, 0.6]], dtype=np.float32)
    first, second = mmr([1.0, 0.5], vectors, [None, None], trade_off=0.6, cosine_share=1.0, limit=2)
    assert (first.gain, first.redundancy) == (0.6, 0.0)
    assert second.redundancy == pytest.approx(0.8)
    assert second.gain == pytest.approx(0.6 * 0.5 - 0.4 * 0.8)


def test_redundancy_is_the_cosine_and_the_same_attribute_by_their_shares() -> None:
    vectors = np.array([[1, 0], [0.8, 0.6]], dtype=np.float32)
    _, second = mmr([1.0, 0.5], vectors, ["law", "law"], trade_off=0.6, cosine_share=0.25, limit=2)
    assert second.redundancy == pytest.approx(0.25 * 0.8 + 0.75 * 1)


def test_a_missing_attribute_equals_nothing_not_even_another_missing_one() -> None:
    _, second = mmr([1.0, 0.5], apart(2), [None, None], trade_off=0.6, cosine_share=0.0, limit=2)
    assert second.redundancy == 0.0


def test_a_zero_vector_is_similar_to_nothing() -> None:
    _, second = mmr([1.0, 0.5], np.zeros((2, 2), np.float32), ["a", "b"], trade_off=0.5, cosine_share=1.0, limit=2)
    assert second.redundancy == 0.0


def test_values_that_are_not_finite_and_unequal_lengths_are_refused() -> None:
    with pytest.raises(ValueError, match="finite"):
        mmr([float("nan")], apart(1), [None], trade_off=0.5, cosine_share=1.0, limit=1)
    with pytest.raises(ValueError, match="finite"):
        mmr([0.1], np.full((1, 2), np.nan, np.float32), [None], trade_off=0.5, cosine_share=1.0, limit=1)
    with pytest.raises(ValueError, match="not as many"):
        mmr([0.1, 0.2], apart(1), [None], trade_off=0.5, cosine_share=1.0, limit=1)


def test_nothing_in_gives_nothing_out() -> None:
    assert picked([], np.zeros((0, 4), np.float32), 0.5, 5) == []


@given(
    st.lists(st.floats(0, 1), min_size=1, max_size=25), st.floats(0, 1), st.integers(1, 40), st.integers(0, 2**32 - 1)
)
def test_picks_equal_the_plain_definition(relevance: list[float], trade_off: float, limit: int, seed: int) -> None:
    vectors = np.random.default_rng(seed).normal(size=(len(relevance), 8)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    redundancy = np.array([[float(np.float32(row @ other)) for other in vectors] for row in vectors]).round(6)
    chosen: list[int] = []
    gains_of_picks = []
    while len(chosen) < min(limit, len(relevance)):
        gains = {
            index: trade_off * relevance[index]
            - (1 - trade_off) * max((redundancy[index, pick] for pick in chosen), default=0.0)
            for index in range(len(relevance))
            if index not in chosen
        }
        gains_of_picks.append(max(gains.values()))
        # Follow the picks under test, so that a rounding between near-equal gains does not part the two for good.
        chosen.append(picked(relevance, vectors, trade_off, len(chosen) + 1)[-1])
        assert gains[chosen[-1]] == pytest.approx(gains_of_picks[-1], abs=2e-6)
