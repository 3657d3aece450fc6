"""Which hits say the same, and who stands for whom."""

import numpy as np

from services.ranking.domain.near_duplicates import collapse


def vectors(*cosines: float) -> np.ndarray:
    """Unit vectors with these cosines to the first axis, each leaning to the same side."""
    return np.array([[cosine, np.sqrt(1 - cosine * cosine)] for cosine in cosines], dtype=np.float32)


APART = np.eye(4, dtype=np.float32)


def test_the_same_text_collapses_into_its_best_hit() -> None:
    assert collapse(["a", "b", "a", "a"], APART, least_cosine=1.0) == [(0, (2, 3)), (1, ())]


def test_an_unknown_text_equals_no_other() -> None:
    assert collapse(["", ""], APART[:2], least_cosine=1.0) == [(0, ()), (1, ())]


def test_a_cosine_at_the_threshold_collapses_and_one_below_does_not() -> None:
    three = np.array([[1, 0], [0.8, 0.6], [0.6, 0.8]], dtype=np.float32)
    assert collapse(["a", "b", "c"], three, least_cosine=0.8) == [(0, (1,)), (2, ())]


def test_a_hit_that_is_stood_for_stands_for_none() -> None:
    # Each is like the one before it, but the third is not like the first: a chain would swallow all.
    chain = vectors(1.0, 0.95, 0.82)
    assert collapse(["a", "b", "c"], chain, least_cosine=0.9) == [(0, (1,)), (2, ())]


def test_zero_vectors_are_similar_to_nothing() -> None:
    assert collapse(["a", "b"], np.zeros((2, 3), np.float32), least_cosine=0.1) == [(0, ()), (1, ())]


def test_nothing_in_gives_nothing_out() -> None:
    assert collapse([], np.zeros((0, 3), np.float32), least_cosine=0.5) == []
