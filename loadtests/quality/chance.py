"""How far chance alone moves a mean over queries: intervals, and whether a change is more than that. Deterministic."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import stats

CONFIDENCE = 0.95
_RESAMPLES = 9_999
_BATCH = 500  # resamples at once; bounds the memory of large sets


@dataclass(frozen=True, slots=True)
class Mean:
    """A mean and its interval of CONFIDENCE over other samples of queries: a percentile bootstrap."""

    value: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Change:
    """The mean of paired differences; `p` is the two-sided chance of one so large if now and before were the same."""

    mean: Mean
    p: float


def mean_of(values: Sequence[float | None]) -> Mean:
    """The mean over the values that there are, at least one."""
    known = np.array([value for value in values if value is not None])
    if len(known) < 2:  # no interval can be told
        return Mean(float(known[0]), float(known[0]), float(known[0]))
    spread = stats.bootstrap(
        (known,),
        np.mean,
        confidence_level=CONFIDENCE,
        n_resamples=_RESAMPLES,
        batch=_BATCH,
        method="percentile",
        rng=np.random.default_rng(0),
    ).confidence_interval
    return Mean(float(known.mean()), float(spread.low), float(spread.high))


def change_of(now: Sequence[float | None], before: Sequence[float | None]) -> Change:
    """The change from `before` to `now`, query by query; a pair without one of its values is left out.

    A randomisation test: if nothing had changed, each difference could as well have the other sign.
    """
    differences = [new - old for new, old in zip(now, before, strict=True) if new is not None and old is not None]
    if not any(differences):
        return Change(Mean(0.0, 0.0, 0.0), 1.0)
    test = stats.permutation_test(
        (np.array(differences),),
        np.mean,
        permutation_type="samples",
        n_resamples=_RESAMPLES,
        batch=_BATCH,
        rng=np.random.default_rng(0),
    )
    return Change(mean_of(differences), float(test.pvalue))


def adjusted(chances: Sequence[float]) -> list[float]:
    """The p-values after Holm's correction for having looked so many times, in their order."""
    order = sorted(range(len(chances)), key=lambda index: chances[index])
    corrected, highest = [1.0] * len(chances), 0.0
    for looked, index in enumerate(order):
        highest = max(highest, min(1.0, chances[index] * (len(chances) - looked)))
        corrected[index] = highest
    return corrected
