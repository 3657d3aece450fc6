"""Completed against fused relevance and against each leg, on every set; and whether 0.6 is the right share."""

from collections.abc import Iterator, Mapping, Sequence

from loadtests.quality.chance import adjusted, change_of
from loadtests.quality.table import change, number, table, with_interval
from loadtests.tune.study_sets import TOPICS, StudySet
from loadtests.tune.sweep import ALONE, Trial, best, choose
from loadtests.tune.values import NDCG10, NDCG20, Run, mean, run

SHARES = (0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
DEFAULT = 0.6
# The measure that the design's sketch of a set is told in.
_MEASURES = {TOPICS: NDCG20}


def measure_of(name: str) -> str:
    """What a set is told in."""
    return _MEASURES.get(name, NDCG10)


def relevance_lines(sets: Sequence[StudySet]) -> Iterator[str]:
    """Every set by legs, fusion and completed relevance with the default's share."""
    rows, chances, changes = [], [], []
    for one in sets:
        measure, alone = measure_of(one.name), one.own.changed(**ALONE)
        runs = {
            "keyword": run(one.queries, alone.changed(relevance="fused", vector_weight=0.0)),
            "vector": run(one.queries, alone.changed(relevance="fused", keyword_weight=0.0)),
            "fused": run(one.queries, alone.changed(relevance="fused")),
        }
        completed = run(one.queries, alone).values[measure]
        against = {label: change_of(completed, run_.values[measure]) for label, run_ in runs.items()}
        chances += [found.p for found in against.values()]
        changes.append((one, measure, runs, completed, against))
    corrected = iter(adjusted(chances))
    for one, measure, runs, completed, against in changes:
        told = [f"{change(measure, found)}, p {next(corrected):.3f}" for found in against.values()]
        means = [number(measure, mean(run_.values[measure])) for run_ in runs.values()]
        rows.append((one.name, measure, *means, with_interval(measure, completed), *told))
    head = ("set", "measure", "keyword", "vector", "fused (RRF)", "completed, 0.6")
    yield from table((*head, "less keyword", "less vector", "less fused"), rows)


def share_lines(sets: Sequence[StudySet]) -> Iterator[str]:
    """Every set by the share of the cosine; the share that its own queries choose; the one that the other sets do."""
    runs = {one.name: _by_share(one) for one in sets}
    rows = []
    for one in sets:
        measure, by_share = measure_of(one.name), runs[one.name]
        tried = [Trial({"cosine_share": share}, run_) for share, run_ in by_share.items()]
        chosen = choose(by_share[DEFAULT], tried, best(measure), measure=measure)
        others = _best_of({name: found for name, found in runs.items() if name != one.name})
        by_others = change_of(by_share[others].values[measure], by_share[DEFAULT].values[measure])
        held = f"{change(measure, chosen.held_out)}, p {chosen.held_out.p:.3f}" if chosen else ""
        rows.append(
            (
                one.name,
                *(number(measure, mean(run_.values[measure])) for run_ in by_share.values()),
                f"{chosen.trial.settings['cosine_share']:g}" if chosen else "",
                held,
                f"{others:g}: {change(measure, by_others)}",
            )
        )
    head = ("set", *(f"{share:g}" for share in SHARES), "its own choice", "held out, less 0.6", "choice of the others")
    yield from table(head, rows)


def _by_share(one: StudySet) -> dict[float, Run]:
    alone = one.own.changed(**ALONE)
    return {share: run(one.queries, alone.changed(cosine_share=share)) for share in SHARES}


def _best_of(runs: Mapping[str, Mapping[float, Run]]) -> float:
    """The share with the highest mean over sets, each of which counts the same."""

    def total(share: float) -> float:
        return sum(mean(by_share[share].values[measure_of(name)]) for name, by_share in runs.items())

    return max(SHARES, key=total)
