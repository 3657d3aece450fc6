"""Quantiles of a histogram in milliseconds, each with how far chance alone may move it."""

import math

from hdrh.histogram import HdrHistogram
from pydantic import Field

from loadtests.strict import StrictFile

QUANTILES = {"p50": 0.5, "p90": 0.9, "p95": 0.95, "p99": 0.99}
# Two-sided 95 % of the normal distribution.
_Z = 1.96


class Spread(StrictFile):
    """A 95 % interval."""

    low: float
    high: float

    def overlaps(self, other: "Spread") -> bool:
        """Whether some value lies in both."""
        return self.low <= other.high and other.low <= self.high


class Figures(StrictFile):
    """One measure, in milliseconds."""

    count: int = Field(description="Measured values.")
    p50: float
    p90: float
    p95: float
    p99: float
    max: float
    spread: dict[str, Spread] = Field(
        description="95 % intervals of the quantiles from their order statistics; they take requests as independent, "
        "which queueing makes them less than wholly."
    )


def figures(histogram: HdrHistogram) -> Figures:
    """The figures of a histogram that holds at least one value."""
    count = histogram.get_total_count()
    quantiles = {name: _at(histogram, quantile) for name, quantile in QUANTILES.items()}
    spread = {name: _spread(histogram, quantile, count) for name, quantile in QUANTILES.items()}
    return Figures(count=count, max=histogram.get_max_value() / 1000, spread=spread, **quantiles)


def enough_for(quantile: float) -> int:
    """The least count at which a quantile is not simply the largest value."""
    return math.ceil(round(1 / (1 - quantile), 6))


def _at(histogram: HdrHistogram, quantile: float) -> float:
    return float(histogram.get_value_at_percentile(100 * quantile)) / 1000


def _spread(histogram: HdrHistogram, quantile: float, count: int) -> Spread:
    """The values at the ranks that a quantile may have by chance: binomial, by its normal approximation."""
    off = _Z * math.sqrt(quantile * (1 - quantile) / count)
    return Spread(low=_at(histogram, max(0.0, quantile - off)), high=_at(histogram, min(1.0, quantile + off)))
