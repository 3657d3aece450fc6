"""Quantiles of a few hundred measured times."""

from collections.abc import Sequence

import numpy as np

from loadtests.strict import StrictFile


class Times(StrictFile):
    """Milliseconds."""

    count: int
    p50: float
    p95: float
    p99: float


def times_of(milliseconds: Sequence[float]) -> Times:
    """The quantiles of at least one value."""
    p50, p95, p99 = (float(value) for value in np.percentile(milliseconds, (50, 95, 99)))
    return Times(count=len(milliseconds), p50=p50, p95=p95, p99=p99)
