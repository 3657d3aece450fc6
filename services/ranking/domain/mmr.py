"""Maximal marginal relevance (Carbonell and Goldstein 1998): each pick is relevant and unlike all earlier picks."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from services.ranking.domain.window import Matrix

# The same cosine comes out of a matrix product with other last bits in another row; beyond this, equal is equal.
_DECIMALS = 6


@dataclass(frozen=True, slots=True)
class Pick:
    """One pick: its `index`, the marginal `gain` at which it won, its highest `redundancy` with an earlier pick."""

    index: int
    gain: float
    redundancy: float


def mmr(
    relevance: Sequence[float],
    vectors: Matrix,
    attributes: Sequence[str | None],
    *,
    trade_off: float,
    cosine_share: float,
    limit: int,
) -> list[Pick]:
    """At most `limit` picks in pick order, by `trade_off * relevance - (1 - trade_off) * highest redundancy`.

    Redundancy with an earlier pick is `cosine_share * cosine + (1 - cosine_share) * same attribute`. `relevance` is
    (n,), `vectors` (n, d) of unit length; a zero row is similar to nothing, a missing attribute equals nothing. Both
    shares are in [0, 1]; a `trade_off` of 1 is pure relevance. The first pick has redundancy 0. Ties go to the lower
    index. O(n * limit * d). Raises ValueError on a value that is not finite and on lengths that differ.
    """
    scores = np.asarray(relevance, dtype=np.float64)
    if not len(scores) == len(vectors) == len(attributes):
        raise ValueError(f"{len(scores)} relevances, {len(vectors)} vectors, {len(attributes)} attributes: not as many")
    if not np.isfinite(scores).all() or not np.isfinite(vectors).all():
        raise ValueError("relevance and vectors must be finite numbers")
    codes = _codes(attributes)
    wanted, penalty_share, attribute_share = trade_off * scores, 1.0 - trade_off, 1.0 - cosine_share
    highest = np.zeros(len(scores))
    picks: list[Pick] = []
    for _ in range(min(limit, len(scores))):
        gains = wanted - penalty_share * highest
        index = int(gains.argmax())  # the first of equals
        picks.append(Pick(index, float(gains[index]), float(highest[index])))
        wanted[index] = -np.inf
        redundancy = cosine_share * (vectors @ vectors[index]).astype(np.float64).round(_DECIMALS)
        if attribute_share:
            redundancy += attribute_share * (codes == codes[index])
        # Before the first pick nothing is redundant; from then on a negative cosine counts as it is.
        highest = redundancy if len(picks) == 1 else np.maximum(highest, redundancy, out=highest)
    return picks


def _codes(attributes: Sequence[str | None]) -> npt.NDArray[np.int64]:
    """A number for each different value, and one of its own for each that is missing."""
    numbers: dict[str | int, int] = {}
    keys = (place if value is None else value for place, value in enumerate(attributes))
    return np.array([numbers.setdefault(key, len(numbers)) for key in keys], dtype=np.int64)
