"""Which settings serve a collection's judged queries best, and what that is worth on queries they were not chosen by.

Relevance comes first, with everything that follows it off; then what recency and diversity cost and give. Pure.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, TypeAlias

import numpy as np

from loadtests.quality.chance import Change, change_of
from loadtests.quality.measures import AGE, DISTINCT
from loadtests.tune.captured import CapturedQuery
from loadtests.tune.replay import Knobs
from loadtests.tune.values import Run, mean, run

FOLDS = 5
Settings: TypeAlias = Mapping[str, Any]

# What is off while relevance is tuned.
ALONE: Settings = {"recency_tiers": (), "mmr": False, "min_distinct": 0}
_KS = (10, 20, 60)
_WEIGHTS = ((1.0, 1.0), (1.0, 2.0), (1.0, 4.0), (2.0, 1.0), (4.0, 1.0))  # keyword, vector
_GATES = (0.0, 0.3, 0.5, 0.7)
_COSINE_SHARES = (0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
_TIERS = (((1, 1.1), (5, 1.0), (None, 0.95)), ((1, 1.2), (5, 1.0), (None, 0.9)))
UNBOUNDED = 1000
_PLACES = (0, 3, 5, 10, UNBOUNDED)
_LAMBDAS = (0.9, 0.8, 0.7, 0.6, 0.5)
_POWERS = (1.0, 2.0)
_SHARES = (1.0, 0.8, 0.7, 0.6, 0.5, 0.3)


@dataclass(frozen=True, slots=True)
class Trial:
    """One setting, by what it changes, with what it gave."""

    settings: Settings
    run: Run


@dataclass(frozen=True, slots=True)
class Choice:
    """The trial that the rule chose by all queries; `held_out` is the change of the measure that it brought to the
    queries of each fold when it was chosen by those of the others, and `votes` how many folds chose the same one.
    """

    trial: Trial
    held_out: Change
    votes: int


def relevance_grid(*, both_legs: bool) -> Iterator[Settings]:
    """Fused relevance by constant, weights and gate; completed relevance by share and gate.

    Under completed relevance the constant and the weights choose the window only, which changes next to nothing.
    """
    if not both_legs:
        yield from ({"relevance": "fused", "rrf_k": k} for k in _KS)
        return
    for k, (keyword, vector), gate in product(_KS, _WEIGHTS, _GATES):
        yield {
            "relevance": "fused", "rrf_k": k, "keyword_weight": keyword, "vector_weight": vector, "keyword_gate": gate,
        }  # fmt: skip
    for share, gate in product(_COSINE_SHARES, _GATES):
        yield {"relevance": "completed", "cosine_share": share, "keyword_gate": gate}


def recency_grid() -> Iterator[Settings]:
    """By how many places hits may move and by which factors, with the leader of both legs protected and without."""
    for tiers, places, protected in product(_TIERS, _PLACES, (True, False)):
        yield {"recency_tiers": tiers, "recency_places": places, "protect_leader": protected}


def diversity_grid(*, attribute: bool) -> Iterator[Settings]:
    """By the share of relevance and its power and, where there is an attribute, by the cosine's share in redundancy."""
    for power, relevance, cosine in product(_POWERS, _LAMBDAS, _SHARES if attribute else (1.0,)):
        yield {"mmr": True, "mmr_lambda": relevance, "mmr_relevance_power": power, "mmr_cosine_share": cosine}


def trials(queries: Sequence[CapturedQuery], base: Knobs, grid: Iterable[Settings]) -> list[Trial]:
    """Every setting of the grid, tried on all queries on top of `base`."""
    return [Trial(settings, run(queries, base.changed(**settings))) for settings in grid]


# Chooses one of the trials by the means of all measures over some queries; the first ones are those of the base.
Rule: TypeAlias = Callable[[Mapping[str, float], Sequence[Mapping[str, float]]], int | None]


def best(measure: str) -> Rule:
    """The trial with the highest mean of the measure; the earlier one of equals."""

    def rule(_: Mapping[str, float], means: Sequence[Mapping[str, float]]) -> int:
        return max(range(len(means)), key=lambda place: means[place][measure])

    return rule


def most_within(gain: str, *, sign: int, measure: str, cost: float) -> Rule:
    """The trial that moves `gain` most in the direction of `sign` for at most `cost` of the measure's mean.

    None where no trial moves it at that price.
    """

    def rule(base: Mapping[str, float], means: Sequence[Mapping[str, float]]) -> int | None:
        affordable = [
            place
            for place, one in enumerate(means)
            if base[measure] - one[measure] <= cost and sign * (one[gain] - base[gain]) > 0
        ]
        return max(affordable, key=lambda place: sign * means[place][gain], default=None)

    return rule


def newest_within(measure: str, cost: float) -> Rule:
    """The lowest mean age."""
    return most_within(AGE, sign=-1, measure=measure, cost=cost)


def most_varied_within(measure: str, cost: float) -> Rule:
    """The most different values of the attribute."""
    return most_within(DISTINCT, sign=1, measure=measure, cost=cost)


def choose(base: Run, tried: Sequence[Trial], rule: Rule, *, measure: str) -> Choice | None:
    """What the rule chooses, and what that brings to queries by which it was not chosen; None where it chooses none."""
    count = len(base.values[measure])
    chosen = _chosen(base, tried, rule, range(count))
    if chosen is None:
        return None
    now, before, votes = [], [], 0
    for held in _folds(count):
        others = sorted(set(range(count)) - set(held))
        by_others = _chosen(base, tried, rule, others)
        run_ = base if by_others is None else tried[by_others].run
        votes += by_others == chosen
        now += [run_.values[measure][query] for query in held]
        before += [base.values[measure][query] for query in held]
    return Choice(tried[chosen], change_of(now, before), votes)


def _folds(count: int) -> list[list[int]]:
    order = np.random.default_rng(0).permutation(count)
    return [sorted(fold.tolist()) for fold in np.array_split(order, min(FOLDS, count)) if len(fold)]


def _chosen(base: Run, tried: Sequence[Trial], rule: Rule, queries: Sequence[int]) -> int | None:
    return rule(_means(base, queries), [_means(trial.run, queries) for trial in tried])


def _means(run_: Run, queries: Sequence[int]) -> Mapping[str, float]:
    """The means over these queries of the measures that any of them has."""
    over = {name: [values[query] for query in queries] for name, values in run_.values.items()}
    return {name: mean(values) for name, values in over.items() if any(value is not None for value in values)}
