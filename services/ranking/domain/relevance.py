"""How relevant a hit is inside its window, in [0, 1]."""

from collections.abc import Sequence


def fused_relevance(scores: Sequence[float], *, top: float, floor: float) -> list[float]:
    """RRF's scores on an absolute scale: `(s - floor) / (top - floor)`, cut to [0, 1].

    `top` is what a hit that is first in every leg gets, `floor` what one just below the depth of the lightest leg would
    get, so that the same value means the same in two queries. Order is kept. Raises ValueError unless top > floor.
    """
    if not top > floor:
        raise ValueError(f"top ({top}) must be above floor ({floor})")
    return [min(1.0, max(0.0, (score - floor) / (top - floor))) for score in scores]
