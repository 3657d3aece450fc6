"""How relevant a hit is inside its window, in [0, 1]."""

import math
from collections.abc import Sequence
from enum import StrEnum

import numpy as np
import numpy.typing as npt


class Relevance(StrEnum):
    """By what relevance is told: the score of the fusion, both raw scores of every hit, or a cross-encoder's score."""

    FUSED = "fused"
    COMPLETED = "completed"
    CROSS_ENCODER = "cross_encoder"


def fused_relevance(scores: Sequence[float], *, top: float, floor: float) -> list[float]:
    """RRF's scores on an absolute scale: `(s - floor) / (top - floor)`, cut to [0, 1].

    `top` is what a hit that is first in every leg gets, `floor` what one just below the depth of the lightest leg would
    get, so that the same value means the same in two queries. Order is kept. Raises ValueError unless top > floor.
    """
    if not top > floor:
        raise ValueError(f"top ({top}) must be above floor ({floor})")
    return [min(1.0, max(0.0, (score - floor) / (top - floor))) for score in scores]


def completed_relevance(keyword: Sequence[float], cosines: Sequence[float], *, cosine_share: float) -> list[float]:
    """Both raw scores, each standardised over the window, joined and scaled so that the window spans [0, 1].

    `w * z(cosine) + (1 - w) * z(keyword)` with w = `cosine_share` in [0, 1] and z(x) = (x - mean) / standard deviation,
    0 where a score is the same everywhere. Where all joined scores are equal each is 1. Raises ValueError for a score
    that is no finite number, and for lists that differ in length.
    """
    if len(keyword) != len(cosines):
        raise ValueError(f"there are {len(keyword)} keyword scores and {len(cosines)} cosines")
    if not keyword:
        return []
    joined = cosine_share * _standardised(cosines) + (1.0 - cosine_share) * _standardised(keyword)
    lowest, highest = joined.min(), joined.max()
    if lowest == highest:
        return [1.0] * len(keyword)
    scaled: list[float] = ((joined - lowest) / (highest - lowest)).tolist()
    return scaled


def sigmoid_relevance(scores: Sequence[float]) -> list[float]:
    """A cross-encoder's raw scores on [0, 1], `1 / (1 + exp(-s))`. Raises ValueError for one that is not finite."""
    if not all(math.isfinite(score) for score in scores):
        raise ValueError("scores must be finite numbers")
    # In this form exp never overflows.
    return [(1.0 + math.tanh(score / 2.0)) / 2.0 for score in scores]


def _standardised(scores: Sequence[float]) -> npt.NDArray[np.float64]:
    values = np.asarray(scores, dtype=np.float64)
    if not np.isfinite(values).all():
        raise ValueError("scores must be finite numbers")
    # Of equal values the mean may be off by a rounding, and the deviation then is not 0.
    if values.min() == values.max():
        return np.zeros(len(values))
    return np.asarray((values - values.mean()) / values.std())
