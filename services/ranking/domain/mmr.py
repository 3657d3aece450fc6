"""Maximal marginal relevance (Carbonell and Goldstein 1998): each pick is relevant and unlike all earlier picks."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from services.ranking.domain.window import Matrix


@dataclass(frozen=True, slots=True)
class Pick:
    """One pick: its `index`, the marginal `gain` at which it won, its highest `redundancy` with an earlier pick."""

    index: int
    gain: float
    redundancy: float


def redundancy_matrix(
    vectors: Matrix, attributes: Sequence[str | None], *, cosine_share: float
) -> npt.NDArray[np.float64]:
    """(n, n) values `w * cosine + (1 - w) * same attribute`, w being `cosine_share` in [0, 1].

    `vectors` is (n, d), unit length; a zero row is similar to nothing. A missing attribute equals nothing.
    """
    codes = {value: code for code, value in enumerate(dict.fromkeys(attributes)) if value is not None}
    coded = np.array([codes.get(value, -1) if value is not None else -1 for value in attributes])
    same = (coded[:, None] == coded[None, :]) & (coded[:, None] >= 0)
    cosines = vectors.astype(np.float64) @ vectors.T.astype(np.float64)
    return np.asarray(cosine_share * cosines + (1.0 - cosine_share) * same, dtype=np.float64)


def mmr(relevance: Sequence[float], redundancy: npt.NDArray[np.float64], *, trade_off: float, limit: int) -> list[Pick]:
    """At most `limit` picks in pick order, by `trade_off * relevance - (1 - trade_off) * max redundancy over picks`.

    `relevance` is (n,), `redundancy` (n, n); `trade_off` in [0, 1], 1 is pure relevance. The first pick has
    redundancy 0. Ties go to the lower index. O(n * limit). Raises ValueError on NaN or shapes that differ.
    """
    scores = np.asarray(relevance, dtype=np.float64)
    if redundancy.shape != (len(scores), len(scores)):
        raise ValueError(f"redundancy is {redundancy.shape}, relevance has {len(scores)} entries")
    if np.isnan(scores).any() or np.isnan(redundancy).any():
        raise ValueError("relevance and redundancy must not hold NaN")
    highest = np.zeros(len(scores))
    open_ = np.ones(len(scores), dtype=bool)
    picks: list[Pick] = []
    for _ in range(min(limit, len(scores))):
        gains = np.where(open_, trade_off * scores - (1.0 - trade_off) * highest, -np.inf)
        index = int(np.argmax(gains))  # argmax returns the first of equals
        picks.append(Pick(index, float(gains[index]), float(highest[index])))
        open_[index] = False
        # Before the first pick nothing is redundant; from then on a negative cosine counts as it is.
        highest = redundancy[index] if len(picks) == 1 else np.maximum(highest, redundancy[index])
    return picks
