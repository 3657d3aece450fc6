"""Which rows have a cosine, and that equal rows have the same one."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.shared.cosines import cosines_with

ROWS = np.array([[1, 0], [0.6, 0.8], [0, 0]], dtype=np.float32)


def test_each_row_has_its_share_along_the_query_and_a_missing_vector_has_none() -> None:
    assert cosines_with(ROWS, np.array([0, 1], dtype=np.float32)) == [0.0, pytest.approx(0.8), None]


def test_without_a_query_vector_nothing_is_known() -> None:
    assert cosines_with(ROWS, None) == [None, None, None]
    assert cosines_with(ROWS[:0], np.array([0, 1], dtype=np.float32)) == []


@given(st.integers(2, 40), st.integers(0, 2**32 - 1))
def test_equal_rows_have_equal_cosines(count: int, seed: int) -> None:
    row, query = np.random.default_rng(seed).normal(size=(2, 33)).astype(np.float32)
    assert len(set(cosines_with(np.tile(row, (count, 1)), query))) == 1
