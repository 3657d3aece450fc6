"""The last stage: what the model gave becomes unit vectors, or is not let through."""

import numpy as np
import numpy.typing as npt

Matrix = npt.NDArray[np.float32]


def unit_rows(raw: Matrix) -> tuple[Matrix, list[int]]:
    """(n, d) with rows of unit length, and the rows that cannot be brought to it: not finite, or zero.

    Such a row is left as zeros. Half precision gives them where an activation overflows.
    """
    with np.errstate(all="ignore"):
        lengths = np.linalg.norm(raw.astype(np.float64), axis=1, keepdims=True)
        sound = np.isfinite(lengths) & (lengths > 0)
        rows = np.where(sound, raw / np.where(sound, lengths, 1.0), 0.0).astype(np.float32)
    return rows, np.flatnonzero(~sound[:, 0]).tolist()
