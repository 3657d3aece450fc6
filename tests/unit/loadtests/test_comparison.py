import pytest

from loadtests.comparison import compare
from tests.unit.loadtests.reports import MACHINE, SETUP, figures, report


def test_every_measure_that_both_have_is_set_beside_the_accepted_one() -> None:
    now = report(calls={"search": {"latency": figures(90), "hops": figures(4)}, "answer": {"latency": figures(900)}})
    comparison = compare(now, report(calls={"search": {"latency": figures(60)}}))
    found = {one.what: (one.now, one.accepted) for one in comparison.differences}
    assert found == {
        "search latency p50": (45, 30),
        "search latency p95": (90, 60),
        "search latency p99": (100, 70),
    }
    assert comparison.accepted_commit == "c0ffee"


@pytest.mark.parametrize(("p95", "apart"), [(65, False), (70, False), (71, True)])
def test_only_a_difference_beyond_both_intervals_is_more_than_chance(p95: float, apart: bool) -> None:
    comparison = compare(report(calls={"search": {"latency": figures(p95)}}), report())
    assert {one.what: one.apart for one in comparison.differences}["search latency p95"] is apart


def test_runs_that_are_alike_have_nothing_to_say_about_it_whatever_their_seed_or_verdict() -> None:
    seeded = SETUP.model_copy(update={"seed": 2, "budget_scale": 0.5})
    assert compare(report(setup=seeded, load_average=3.0), report()).unlike == []


def test_another_machine_and_another_rate_are_named_with_both_values() -> None:
    other = report(machine=MACHINE.model_copy(update={"cores": 8}), setup=SETUP.model_copy(update={"rate_per_s": 9.0}))
    assert compare(other, report()).unlike == ["cores: 8, accepted 2", "rate_per_s: 9.0, accepted 4.0"]
