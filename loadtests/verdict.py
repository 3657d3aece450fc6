"""Whether a run kept the budget; or whether it can say nothing, because the generator or the run itself is at fault."""

from collections.abc import Iterator, Mapping
from typing import Literal, TypeAlias

from pydantic import Field

from loadtests.budget import Limits, Objectives
from loadtests.figures import QUANTILES, Figures, enough_for
from loadtests.strict import StrictFile

Outcome: TypeAlias = Literal["pass", "fail", "invalid"]

# A generator that sends later than this (p99) measures itself.
MOST_LAG_MS = 5.0
# What a run must be long enough for; p99 is judged when there is enough for it too.
_NEEDED = ("p50", "p95")
_JUDGED = (*_NEEDED, "p99")


class Counts(StrictFile):
    """Requests of a run or of one kind, and what became of them."""

    sent: int
    answered: int = Field(description="Whole answers: no error, no timeout.")
    incomplete: int = Field(description="Answered ones with a part degraded.")


class Check(StrictFile):
    """One limit, and what was measured against it: milliseconds, or shares of requests from 0 to 1."""

    what: str
    unit: Literal["ms", "share"]
    measured: float
    limit: float
    kept: bool


class Verdict(StrictFile):
    """The outcome, and the sentences that explain one that is not `pass`."""

    outcome: Outcome
    reasons: list[str]
    checks: list[Check]
    not_judged: list[str] = Field(description="Limits that this run had nothing, or too little, to hold against.")


def judge(
    limits: Mapping[str, Limits],
    objectives: Objectives,
    stages: Mapping[str, Figures],
    counts: Counts,
    *,
    lag_p99_ms: float,
) -> Verdict:
    """The verdict on a run that measured `stages`; limits of other stages are not judged.

    A quantile is judged from as many values as put it below the largest one. A run that answers its requests and has
    too few values for a p50 or p95 is invalid: it must be longer.
    """
    checks = [*_shares(objectives, counts)]
    answers = all(check.kept for check in checks)
    not_judged = [f"{name}: not measured" for name in limits if name not in stages]
    too_short = [] if stages else ["nothing that the budget limits was measured"]
    for name in (name for name in limits if name in stages):
        for quantile in _JUDGED:
            measured, enough = stages[name], enough_for(QUANTILES[quantile])
            if measured.count >= enough:
                checks.append(_latency(name, quantile, measured, limits[name]))
                continue
            not_judged.append(f"{name} {quantile}: {measured.count} values, {enough} are needed")
            if quantile in _NEEDED:
                too_short.append(f"too short a run for {not_judged[-1]}")

    invalid = [*_generator_faults(counts, lag_p99_ms), *(too_short if answers else ())]
    broken = [_broken(check) for check in checks if not check.kept]
    outcome: Outcome = "invalid" if invalid else "fail" if broken else "pass"
    return Verdict(outcome=outcome, reasons=invalid or broken, checks=checks, not_judged=not_judged)


def _generator_faults(counts: Counts, lag_p99_ms: float) -> Iterator[str]:
    if not counts.sent:
        yield "no request was due in the recorded time"
    if lag_p99_ms > MOST_LAG_MS:
        yield (
            f"the generator was late itself: the p99 of real less intended start is {lag_p99_ms:.1f} ms, over "
            f"{MOST_LAG_MS:.0f} ms; offer less, use more processes, or free the machine"
        )


def _shares(objectives: Objectives, counts: Counts) -> Iterator[Check]:
    for what, part, whole, objective in (
        ("failed", counts.sent - counts.answered, counts.sent, objectives.answered),
        ("incomplete", counts.incomplete, counts.answered, objectives.complete),
    ):
        measured, limit = part / whole if whole else 0.0, round(1 - objective, 9)
        yield Check(what=what, unit="share", measured=measured, limit=limit, kept=measured <= limit)


def _latency(stage: str, quantile: str, measured: Figures, limits: Limits) -> Check:
    value, limit = getattr(measured, quantile), getattr(limits, quantile)
    return Check(what=f"{stage} {quantile}", unit="ms", measured=value, limit=limit, kept=value <= limit)


def _broken(check: Check) -> str:
    if check.unit == "share":
        return f"{check.measured:.2%} {check.what}, over {check.limit:.2%}"
    return f"{check.what}: {check.measured:.1f} ms, over {check.limit:.1f} ms"
