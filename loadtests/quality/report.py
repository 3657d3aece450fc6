"""Figures for people: a table for each set, in Markdown whose columns line up in a terminal too."""

from collections.abc import Iterator, Sequence

from loadtests.quality.chance import CONFIDENCE
from loadtests.quality.comparison import Comparison
from loadtests.quality.figures import Figures
from loadtests.quality.measured import Measured
from loadtests.quality.measures import MEASURES
from loadtests.quality.table import number, table, with_interval


def markdown(measured: Sequence[Measured], *, picture: str) -> str:
    """All sets in the order given; `picture` is its file, seen from this one."""
    about = f"Means over queries with {CONFIDENCE:.0%} bootstrap intervals. `plain` is what plain tools reach."
    parts = [["# Quality", "", about, "", f"![the watched measures of each stage]({picture})"]]
    parts += [_set(one) for one in measured]
    return "\n\n".join("\n".join(part) for part in parts) + "\n"


def _set(measured: Measured) -> list[str]:
    judged, figures, comparison = measured.judged, measured.figures, measured.comparison
    names = [name for name in MEASURES if any(name in stage for stage in figures.stages.values())]
    rows = [
        (stage, *(with_interval(name, values[name]) if name in values else "" for name in names))
        for stage, values in figures.stages.items()
    ]
    rows += [
        (f"plain: {label}", *(number(name, values[name]) if name in values else "" for name in names))
        for label, values in judged.plain.items()
    ]
    return [
        f"## {figures.name}",
        "",
        *(f"- {fact}" for fact in _facts(figures)),
        "",
        *table(("stage", *names), rows),
        *(["", *_comparison(comparison)] if comparison else []),
    ]


def _facts(figures: Figures) -> Iterator[str]:
    commit = f"{(figures.source.commit or 'unknown')[:10]}{', with changes' if figures.source.dirty else ''}"
    machine = figures.machine
    yield f"{figures.date}, commit {commit}, {machine.cpu}, {machine.cores} cores, {machine.memory_gib:.0f} GiB"
    put = "there before" if figures.put_s is None else f"put in {figures.put_s:.0f} s"
    yield (
        f"{figures.documents} documents, {figures.chunks} chunks ({put}), {len(figures.queries)} queries "
        f"(asked in {figures.asked_s:.0f} s), {figures.model}, {figures.index}"
    )
    vectors = figures.vectors
    if vectors and vectors.verified:
        yield (
            f"vectors of this stack: {vectors.ready} windows ready, {vectors.computed} computed; of {vectors.verified} "
            f"ready ones the least cosine with the model's own is {vectors.least_cosine:.4f}"
        )


def _comparison(comparison: Comparison) -> list[str]:
    accepted = comparison.accepted
    rows = []
    for one in comparison.differences:
        change, span, chance = "gone", "", ""
        if one.change:
            mean = one.change.mean
            change, chance = number(one.measure, mean.value, "+"), f"{one.p:.4f}"
            span = f"{number(one.measure, mean.low, '+')} to {number(one.measure, mean.high, '+')}"
        verdict = "WORSE" if one.is_worse else "better" if one.is_better else ""
        rows.append((one.stage, one.measure, number(one.measure, one.accepted), change, span, chance, verdict))
    return [
        f"Beside the accepted figures of {accepted.date}, commit {(accepted.source.commit or 'unknown')[:10]}; "
        "`p` is adjusted for all rows:",
        "",
        *(f"- not alike: {fact}" for fact in comparison.unlike),
        *([""] if comparison.unlike else []),
        *table(("stage", "measure", "accepted", "change", "interval", "p", ""), rows),
    ]
