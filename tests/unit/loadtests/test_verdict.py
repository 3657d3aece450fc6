import pytest

from loadtests.budget import Limits, Objectives
from loadtests.figures import Figures, Spread
from loadtests.verdict import Counts, Verdict, judge

LIMITS = {"search": Limits(p50=40, p95=80, p99=160), "answer": Limits(p50=400, p95=800, p99=1600)}
OBJECTIVES = Objectives(answered=0.999, complete=0.99)
ALL_WELL = Counts(sent=1000, answered=1000, incomplete=0)


def measured(p50: float, p95: float, p99: float, count: int = 1000) -> Figures:
    spread = {name: Spread(low=0, high=9999) for name in ("p50", "p90", "p95", "p99")}
    return Figures(count=count, p50=p50, p90=p95, p95=p95, p99=p99, max=p99, spread=spread)


FAST = {"search": measured(30, 60, 120), "answer": measured(300, 600, 1200)}


def judged(stages: dict[str, Figures] | None = None, counts: Counts = ALL_WELL, *, lag_p99_ms: float = 1.0) -> Verdict:
    return judge(LIMITS, OBJECTIVES, FAST if stages is None else stages, counts, lag_p99_ms=lag_p99_ms)


def test_a_run_within_every_limit_passes_and_lists_them_in_the_budgets_order() -> None:
    verdict = judged()
    assert (verdict.outcome, verdict.reasons, verdict.not_judged) == ("pass", [], [])
    assert [check.what for check in verdict.checks] == [
        "failed", "incomplete", "search p50", "search p95", "search p99", "answer p50", "answer p95", "answer p99"
    ]  # fmt: skip


def test_a_value_on_its_limit_keeps_it() -> None:
    assert judged({"search": measured(40, 80, 160)}).outcome == "pass"


@pytest.mark.parametrize(
    ("figures", "reason"),
    [
        (measured(40.1, 80, 160), "search p50: 40.1 ms, over 40.0 ms"),
        (measured(40, 80.1, 160), "search p95: 80.1 ms, over 80.0 ms"),
        (measured(40, 80, 160.1), "search p99: 160.1 ms, over 160.0 ms"),
    ],
)
def test_one_broken_limit_fails_the_run(figures: Figures, reason: str) -> None:
    verdict = judged({"search": figures})
    assert (verdict.outcome, verdict.reasons) == ("fail", [reason])


def test_too_many_errors_fail_the_run_however_fast_it_is() -> None:
    assert judged(counts=Counts(sent=1000, answered=999, incomplete=0)).outcome == "pass"
    verdict = judged(counts=Counts(sent=1000, answered=998, incomplete=0))
    assert (verdict.outcome, verdict.reasons) == ("fail", ["0.20% failed, over 0.10%"])


def test_too_many_degraded_answers_fail_the_run() -> None:
    assert judged(counts=Counts(sent=1000, answered=1000, incomplete=10)).outcome == "pass"
    verdict = judged(counts=Counts(sent=1000, answered=1000, incomplete=11))
    assert (verdict.outcome, verdict.reasons) == ("fail", ["1.10% incomplete, over 1.00%"])


def test_a_generator_that_was_late_itself_makes_the_run_invalid_even_when_limits_are_broken() -> None:
    assert judged(lag_p99_ms=5.0).outcome == "pass"
    verdict = judged({"search": measured(400, 800, 1600)}, lag_p99_ms=5.1)
    assert verdict.outcome == "invalid"
    assert verdict.reasons[0].startswith("the generator was late itself: the p99 of real less intended start is 5.1 ms")


def test_a_run_in_which_nothing_was_due_is_invalid() -> None:
    assert judged({}, Counts(sent=0, answered=0, incomplete=0)).outcome == "invalid"


def test_a_stage_that_the_mix_does_not_have_is_named_and_not_judged() -> None:
    verdict = judged({"search": FAST["search"]})
    assert (verdict.outcome, verdict.not_judged) == ("pass", ["answer: not measured"])


def test_a_p99_of_too_few_values_is_not_judged() -> None:
    verdict = judged({"search": measured(30, 60, 9999, count=99)})
    assert verdict.outcome == "pass"
    assert "search p99: 99 values, 100 are needed" in verdict.not_judged


def test_a_run_too_short_for_a_p95_is_invalid() -> None:
    verdict = judged({"search": measured(30, 60, 120, count=19)})
    assert verdict.outcome == "invalid"
    assert verdict.reasons == ["too short a run for search p95: 19 values, 20 are needed"]


def test_a_run_that_measured_nothing_of_the_budget_is_invalid() -> None:
    verdict = judged({})
    assert (verdict.outcome, verdict.reasons) == ("invalid", ["nothing that the budget limits was measured"])


def test_a_run_that_measured_nothing_because_everything_failed_fails() -> None:
    verdict = judged({}, Counts(sent=50, answered=0, incomplete=0))
    assert (verdict.outcome, verdict.reasons) == ("fail", ["100.00% failed, over 0.10%"])
