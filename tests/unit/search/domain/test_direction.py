import numpy as np
import pytest

from services.search.domain.direction import mean_direction


def rows(*vectors: list[float]) -> np.ndarray:
    return np.array(vectors, dtype=np.float32)


def test_one_vector_is_its_own_direction() -> None:
    assert mean_direction(rows([0, 1, 0])).tolist() == [0, 1, 0]


def test_the_mean_is_of_unit_length_and_between_the_rows() -> None:
    direction = mean_direction(rows([1, 0], [0, 1]))
    assert direction == pytest.approx([np.sqrt(0.5), np.sqrt(0.5)])
    assert direction.dtype == np.float32


def test_rows_that_cancel_out_give_the_first() -> None:
    assert mean_direction(rows([1, 0], [-1, 0])).tolist() == [1, 0]


def test_the_rows_stay_as_they_are() -> None:
    vectors = rows([1, 0], [0, 1])
    mean_direction(vectors)
    assert vectors.tolist() == [[1, 0], [0, 1]]
