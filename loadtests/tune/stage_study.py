"""What each stage of ranking costs and gives, from the fused order to the attribute floor."""

from collections.abc import Iterator

from loadtests.quality.chance import change_of
from loadtests.quality.measures import DISTINCT
from loadtests.quality.table import change, table, with_interval
from loadtests.tune.study_sets import StudySet
from loadtests.tune.sweep import ALONE
from loadtests.tune.values import MEASURES, MRR, P10, Run, run


def stages(one: StudySet) -> dict[str, Run]:
    """A run after each stage, each on top of those before it, with the settings that the set's collection has.

    MMR is that of a `paper` collection, on even where the collection has no attribute to spread.
    """
    own, ranking = one.own, one.own.ranking
    fused = own.changed(**ALONE, relevance="fused")
    completed = fused.changed(relevance="completed")
    recency = completed.changed(recency_tiers=ranking.recency_tiers)
    mmr = recency.changed(mmr=True)
    floor = mmr.changed(min_distinct=3)
    steps = {"fused": fused, "completed": completed, "+ recency": recency, "+ MMR": mmr, "+ floor": floor}
    if ranking.diversify_by is None:
        steps.pop("+ floor")
    return {label: run(one.queries, knobs) for label, knobs in steps.items()}


def stage_lines(one: StudySet) -> Iterator[str]:
    """The table of a set, and whether the floor holds."""
    runs = stages(one)
    names = [name for name in MEASURES if name in runs["fused"].values]
    rows = [(label, *(with_interval(name, run_.values[name]) for name in names)) for label, run_ in runs.items()]
    yield f"### {one.name}: {len(one.queries)} queries, {one.model}"
    yield ""
    yield from table(("", *names), rows)
    yield ""
    last = list(runs)[-1]
    for measure in (MRR, P10):
        lost = change_of(runs[last].values[measure], runs["+ recency"].values[measure])
        yield f"- MMR{' and floor' if last == '+ floor' else ''} change {measure} by {change(measure, lost)}."
    if last == "+ floor":
        distinct = [int(value or 0) for value in runs[last].values[DISTINCT]]
        windows = [replayed.window_values for replayed in runs[last].replayed]
        short = sum(has < min(3, there) for has, there in zip(distinct, windows, strict=True))
        yield (
            f"- Top 20s with fewer than three values although the window has them: {short} of {len(distinct)}; the "
            f"least number of values in a top 20 is {min(distinct)}, in a window {min(windows)}."
        )
