from loadtests.comparison import compare
from loadtests.markdown import markdown
from loadtests.verdict import Check, Verdict
from tests.unit.loadtests.reports import SETUP, figures, report


def row(text: str, begins: str) -> list[str]:
    """The cells of the one table row whose first cell is `begins`."""
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines() if line.startswith("|")]
    (found,) = (cells for cells in rows if cells[0] == begins)
    return found


def test_a_passing_run_says_so_first_with_its_limits_and_where_it_ran() -> None:
    text = markdown(report(), "report.png")
    assert text.startswith("# pass: everyday on laptop\n")
    assert row(text, "search p95") == ["search p95", "60.0 ms", "80.0 ms", "kept"]
    assert "Not judged: answer: not measured." in text
    assert "c0ffee" in row(text, "date, commit")[1]
    assert "a CPU, 2 cores" in row(text, "machine")[1]
    assert row(text, "rate")[1] == "offered 3.40/s, achieved 3.30/s"
    assert row(text, "generator")[1] == "late by 11.5 ms at p99 (at most 5)"
    assert "(report.png)" in text


def test_kinds_stand_with_latency_errors_and_degraded_parts() -> None:
    text = markdown(report(), "report.png")
    assert row(text, "short") == [
        "short", "search over http", "400", "399", "30.0", "59.0", "60.0", "70.0", "80.0", "timeout 1", "vector 2"
    ]  # fmt: skip


def test_a_failing_run_with_a_cut_budget_gives_its_reasons() -> None:
    broken = Check(what="search p95", unit="ms", measured=60, limit=40, kept=False)
    failed = report(
        setup=SETUP.model_copy(update={"budget_scale": 0.5}),
        verdict=Verdict(outcome="fail", reasons=["search p95: over"], checks=[broken], not_judged=[]),
    )
    text = markdown(failed, "report.png")
    assert text.startswith("# fail: everyday on laptop\n\n- search p95: over\n")
    assert row(text, "search p95")[-1] == "BROKEN"
    assert "limits times 0.5" in text


def test_the_accepted_run_stands_beside_this_one() -> None:
    now = report(calls={"search": {"latency": figures(90)}})
    text = markdown(now.model_copy(update={"comparison": compare(now, report())}), "report.png")
    assert row(text, "search latency p95") == ["search latency p95", "90.0", "60.0", "+50%", "apart"]
    assert "There is no accepted run to compare with." in markdown(now, "report.png")
