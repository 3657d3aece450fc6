"""Cosines of many vectors with one. Pure."""

import numpy as np
import numpy.typing as npt


def cosines_with(vectors: npt.NDArray[np.float32], query_vector: npt.NDArray[np.float32] | None) -> list[float | None]:
    """The cosine of each row with the query's vector; None without one, and for a row that is zero: a missing vector.

    `vectors` is (n, d), `query_vector` (d,), all of unit length. Equal rows have equal cosines.
    """
    if query_vector is None:
        return [None] * len(vectors)
    # einsum adds up each row in the same order; a matrix product does not.
    cosines = np.einsum("nd,d->n", vectors.astype(np.float64), query_vector.astype(np.float64))
    there: list[bool] = np.any(vectors, axis=1).tolist()
    return [float(cosine) if has_vector else None for cosine, has_vector in zip(cosines, there, strict=True)]
