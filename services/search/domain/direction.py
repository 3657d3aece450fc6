"""One vector for several: a long query has a vector per window, a document one per chunk and window."""

import numpy as np
import numpy.typing as npt

Vector = npt.NDArray[np.float32]
Matrix = npt.NDArray[np.float32]


def mean_direction(vectors: Matrix) -> Vector:
    """The unit vector (d,) that points where the rows of `vectors`, (n, d) with n at least 1, point on average.

    The nearest neighbours of the mean are those nearest to all rows together, so one search serves a text of any
    length; each row by itself would be one more leg with a vote of its own. Rows that cancel out give the first row.
    """
    mean = vectors.mean(axis=0, dtype=np.float64)
    length = float(np.linalg.norm(mean))
    return np.asarray(mean / length if length > 0 else vectors[0], dtype=np.float32)
