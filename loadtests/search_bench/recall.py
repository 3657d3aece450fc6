"""What an approximate search finds of what an exact one finds. Pure."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from services.shared.index.chunk import Matrix

# Scores that are this near are equal: engines add in another order.
_EQUAL = 1e-5


def recall(
    found: Sequence[Sequence[tuple[str, float]]],
    scores: Matrix,
    *,
    limit: int,
    among: npt.NDArray[np.bool_] | None = None,
) -> float:
    """The mean share of the nearest `limit` rows that was found, queries without a match left out.

    `scores` is (queries, rows); a hit counts when its own score is not below that of the last of the nearest, so that
    of equal ones any will do. `among` says which rows match a filter; all without it.
    """
    shares = []
    for hits, of_query in zip(found, scores, strict=True):
        matching = of_query if among is None else of_query[among]
        wanted = min(limit, len(matching))
        if wanted == 0:
            continue
        last = np.partition(matching, len(matching) - wanted)[len(matching) - wanted]
        shares.append(sum(score >= last - _EQUAL for _, score in hits[:limit]) / wanted)
    return float(np.mean(shares))
