"""A run beside the last accepted one: what differs by more than chance, and in what the two are not alike."""

from collections.abc import Iterator
from typing import Any

from loadtests.report import Comparison, Difference, Report

_COMPARED = ("p50", "p95", "p99")
# What may differ without making the measured times differ.
_NO_CAUSE = {"seed", "budget_scale"}


def compare(now: Report, accepted: Report) -> Comparison:
    """The measures that both have, in the order of this run."""
    return Comparison(
        accepted_date=accepted.date,
        accepted_commit=accepted.source.commit,
        unlike=_unlike(_facts(now), _facts(accepted)),
        differences=list(_differences(now, accepted)),
    )


def _differences(now: Report, accepted: Report) -> Iterator[Difference]:
    for call, measures in now.calls.items():
        for measure, figures in measures.items():
            if (before := accepted.calls.get(call, {}).get(measure)) is None:
                continue
            for quantile in _COMPARED:
                yield Difference(
                    what=f"{call} {measure} {quantile}",
                    now=getattr(figures, quantile),
                    accepted=getattr(before, quantile),
                    apart=not figures.spread[quantile].overlaps(before.spread[quantile]),
                )


def _facts(report: Report) -> dict[str, Any]:
    parts = (report.machine, report.stack, report.setup)
    return {name: value for part in parts for name, value in part.model_dump(exclude=_NO_CAUSE).items()}


def _unlike(now: dict[str, Any], accepted: dict[str, Any]) -> list[str]:
    return [f"{name}: {value}, accepted {accepted[name]}" for name, value in now.items() if value != accepted[name]]
