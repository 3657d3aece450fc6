"""Every vector that leaves has unit length, or does not leave."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from services.embedding.domain.unit_vectors import unit_rows


@given(arrays(np.float32, (3, 5), elements=st.floats(-(2.0**100), 2.0**100, width=32)))
def test_every_sound_row_has_unit_length_and_every_other_is_named(raw: np.ndarray) -> None:
    rows, unsound = unit_rows(raw)
    for index, row in enumerate(rows):
        assert np.linalg.norm(row) == pytest.approx(0.0 if index in unsound else 1.0, abs=1e-5)
    assert unsound == [index for index in range(3) if not raw[index].any()]


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_a_row_that_is_not_finite_is_named_and_its_neighbour_stays_right(bad: float) -> None:
    rows, unsound = unit_rows(np.array([[3.0, 4.0], [bad, 1.0]], dtype=np.float32))
    assert unsound == [1]
    assert rows[0] == pytest.approx([0.6, 0.8])


def test_a_zero_row_is_unsound() -> None:
    assert unit_rows(np.zeros((1, 4), dtype=np.float32))[1] == [0]


def test_the_given_rows_are_not_written_to() -> None:
    raw = np.array([[3.0, 4.0]], dtype=np.float32)
    unit_rows(raw)
    assert raw.tolist() == [[3.0, 4.0]]
