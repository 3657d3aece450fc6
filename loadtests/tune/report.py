"""What a tuning found, for people."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from loadtests.provenance import this_machine, this_source
from loadtests.quality.chance import CONFIDENCE, change_of
from loadtests.quality.measures import DISTINCT
from loadtests.quality.table import change, number, table, with_interval
from loadtests.tune.capture import Captured
from loadtests.tune.tuning import Step, Tuning
from loadtests.tune.values import MEASURES, Run, mean

_LISTED = 12


def provenance() -> str:
    """Of which code on which machine."""
    source, machine = this_source(), this_machine()
    commit = f"{(source.commit or 'unknown')[:10]}{', with changes' if source.dirty else ''}"
    return f"commit {commit}, {machine.cpu}, {machine.cores} cores"


def markdown(
    captured: Captured,
    tuning: Tuning,
    *,
    date: str,
    measure: str,
    cost: float,
    settings: Mapping[str, Any],
    picture: str,
) -> str:
    """The report; `picture` is its file, seen from this one."""
    declaration = captured.declaration
    parts = [
        [f"# Tuning of {declaration.name}"],
        [
            f"- {date}, {provenance()}",
            f"- {len(captured.queries)} judged queries, {captured.model}; chosen by {measure}",
            f"- means with {CONFIDENCE:.0%} bootstrap intervals; changes are of paired queries",
        ],
        ["## Before and after", *_before_and_after(tuning)],
        [f"![the trade-off]({picture})"],
        *(_step(step, measure, cost) for step in tuning.steps),
        [
            "## Settings",
            "",
            "What differs from the collection's own, as `PATCH /v1/collections/" + declaration.name + "` takes it:"
            if settings
            else "Nothing was found that is better by more than chance: the collection keeps its own.",
            *(["", "```json", json.dumps({"settings": settings}, indent=2), "```"] if settings else []),
        ],
    ]
    return "\n\n".join("\n".join(part) for part in parts) + "\n"


def _before_and_after(tuning: Tuning) -> Iterator[str]:
    names = [name for name in MEASURES if name in tuning.now.values]
    rows = [
        (label, *(with_interval(name, run.values[name]) for name in names))
        for label, run in (("its own settings", tuning.now), ("chosen", tuning.tuned))
    ]
    changes = [change(name, change_of(tuning.tuned.values[name], tuning.now.values[name])) for name in names]
    yield ""
    yield from table(("", *names), [*rows, ("change", *changes)])


def _step(step: Step, measure: str, cost: float) -> list[str]:
    names = [name for name in MEASURES if name in step.base.values]
    rows = [("as before", *_means(step.base, names), "")]
    for trial in sorted(step.tried, key=lambda one: -mean(one.run.values[measure]))[:_LISTED]:
        changed = change(measure, change_of(trial.run.values[measure], step.base.values[measure]))
        rows.append((told(trial.settings), *_means(trial.run, names), changed))
    shown = f", the best {_LISTED} by {measure}" if len(step.tried) > _LISTED else ""
    return [
        f"## {step.name.capitalize()}",
        "",
        f"{len(step.tried)} settings tried{shown}.",
        "",
        *table(("", *names, f"change of {measure}"), rows),
        "",
        _verdict(step, measure, cost),
    ]


def _verdict(step: Step, measure: str, cost: float) -> str:
    if step.choice is None and step.name == "diversity" and DISTINCT not in step.base.values:
        return "Shown, not chosen: the collection has no attribute whose values are to be spread."
    if step.choice is None:
        return f"Nothing is chosen: no setting gives more for at most {cost:g} {measure}."
    held = step.choice.held_out
    sentence = (
        f"Chosen by all queries: {told(step.choice.trial.settings)}. Chosen by four fifths of the queries at a time, "
        f"it changes {measure} on the other fifth by {change(measure, held)}, p {held.p:.3f}; {step.choice.votes} of "
        "the folds chose the same."
    )
    return sentence if step.taken else f"{sentence} That is no gain beyond chance, so it is not taken."


def _means(run: Run, names: Sequence[str]) -> list[str]:
    return [number(name, mean(run.values[name])) for name in names]


def told(settings: Mapping[str, Any]) -> str:
    """Settings in short."""
    return ", ".join(f"{name} {_value(value)}" for name, value in settings.items())


def _value(value: Any) -> str:
    if isinstance(value, tuple):  # tiers
        return "/".join(f"{factor:g}" for _, factor in value) or "none"
    return f"{value:g}" if isinstance(value, float) else str(value)
