"""The seed's targets on topical queries, tried with everything: half of the topics tune, the other half is reported."""

from collections.abc import Iterator, Sequence

import numpy as np

from loadtests.quality.table import number, table, with_interval
from loadtests.tune.report import told
from loadtests.tune.study_sets import StudySet
from loadtests.tune.sweep import ALONE, best, relevance_grid
from loadtests.tune.values import NDCG20, P10, Run, mean, run

TARGETS = {P10: 0.75, NDCG20: 0.70}
_HALVES = 200


def target_lines(sets: Sequence[StudySet]) -> Iterator[str]:
    """Per model: the default, the settings that one half chooses on the other half, and the mean over many halvings."""
    rows = []
    for one in sets:
        alone = one.own.changed(**ALONE)
        settings = list(relevance_grid(both_legs=True))
        tried = [run(one.queries, alone.changed(**each)) for each in settings]
        base = run(one.queries, alone)
        count = len(one.queries)
        held = sorted(set(range(count)) - set(_first_half(count)))
        rows.append((f"{one.model}, default, all {count}", *_cells(base, range(count)), ""))
        rows.append((f"{one.model}, default, the other half", *_cells(base, held), ""))
        for measure in TARGETS:
            chosen, _ = _chosen(tried, measure, _first_half(count))
            label = f"{one.model}, tuned by {measure}, the other half"
            rows.append((label, *_cells(tried[chosen], held), told(settings[chosen])))
            means = _over_halvings(tried, measure, count)
            rows.append((f"{one.model}, tuned by {measure}, mean of {_HALVES} halvings", *means, ""))
        for measure in TARGETS:
            top = max(range(len(tried)), key=lambda place: mean(tried[place].values[measure]))
            label = f"{one.model}, best {measure} of {len(settings)} on all (chosen by what is reported)"
            rows.append((label, *_cells(tried[top], range(count)), told(settings[top])))
    yield from table(("", *TARGETS, "settings"), rows)


def _cells(run_: Run, queries: Sequence[int]) -> list[str]:
    return [with_interval(measure, [run_.values[measure][query] for query in queries]) for measure in TARGETS]


def _first_half(count: int) -> list[int]:
    """The tuning half, drawn once."""
    return sorted(np.random.default_rng(0).permutation(count)[: count // 2].tolist())


def _over_halvings(tried: Sequence[Run], measure: str, count: int) -> list[str]:
    generator = np.random.default_rng(1)
    means: dict[str, list[float]] = {name: [] for name in TARGETS}
    for _ in range(_HALVES):
        chosen, held = _chosen(tried, measure, generator.permutation(count)[: count // 2].tolist())
        for name, of in means.items():
            of.append(mean([tried[chosen].values[name][query] for query in held]))
    return [number(name, mean(of)) for name, of in means.items()]


def _chosen(tried: Sequence[Run], measure: str, tuning: Sequence[int]) -> tuple[int, list[int]]:
    """The setting that is best on the tuning half, and the queries of the other half."""
    rule = best(measure)
    means = [{measure: mean([run_.values[measure][query] for query in tuning])} for run_ in tried]
    chosen = rule({}, means)
    assert chosen is not None, "the best of some is one of them"
    count = len(tried[0].values[measure])
    return chosen, sorted(set(range(count)) - set(tuning))
