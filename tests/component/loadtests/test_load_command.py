"""`make load` as a person runs it: its own generator processes against a real server, down to the exit code."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from loadtests import load, verdict
from loadtests.__main__ import main
from loadtests.budget import Budget, Limits, read_budget
from loadtests.report import Report
from tests.component.loadtests.tiny_gateway import tiny_gateway

MIX = """
says: one kind
rate_per_s: 50
words: {thing: [cats, dogs]}
kinds:
  short: {share: 1, call: search, timeout_s: 2, body: {query: "{thing}"}}
"""

BUDGET = read_budget()


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with tiny_gateway() as running:
        yield running


@pytest.fixture
def mix(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A mix that the tiny gateway can answer; nothing is accepted outside the test."""
    monkeypatch.setattr(load, "RESULTS", tmp_path / "results")
    file = tmp_path / "tiny.yaml"
    file.write_text(MIX)
    return file


@pytest.fixture
def late_generator_allowed(monkeypatch: pytest.MonkeyPatch) -> None:
    """A test's machine may be too busy for a valid measurement, and these tests are about what follows one."""
    monkeypatch.setattr(verdict, "MOST_LAG_MS", 60_000.0)


def generous_budget() -> Budget:
    """The budget with limits that no machine breaks."""
    limits = {environment: Limits(p50=9e3, p95=9e3, p99=9e3) for environment in BUDGET.environments}
    stages = {name: stage.model_copy(update={"limits_ms": limits}) for name, stage in BUDGET.stages.items()}
    return BUDGET.model_copy(update={"stages": stages})


def ran(mix: Path, *options: str) -> tuple[int, Report]:
    """The exit code of a run of a second, and its report."""
    out = mix.parent / "out"
    code = main(["load", "--mix", str(mix), "--warm-up", "0.3", "--duration", "1", "--out", str(out), *options])
    return code, Report.model_validate_json((out / "report.json").read_text())


def test_a_run_within_the_budget_leaves_with_0_and_its_report(
    url: str, mix: Path, late_generator_allowed: None, capsys: pytest.CaptureFixture[str]
) -> None:
    code, report = ran(mix, "--url", url, "--budget-scale", "1000")
    assert (code, report.verdict.outcome) == (0, "pass")
    assert report.counts.answered == report.counts.sent == report.kinds["short"].sent
    assert report.generator.offered_per_s == pytest.approx(50, rel=0.5)
    assert report.calls["search"]["server.embed"].p50 == pytest.approx(0.1, rel=1e-2)
    assert report.machine.cores >= 1
    assert capsys.readouterr().out.count("# pass: tiny on laptop") == 1
    assert (mix.parent / "out" / "report.png").read_bytes().startswith(b"\x89PNG")


def test_each_engine_is_compared_with_its_own_accepted_run(
    url: str, mix: Path, late_generator_allowed: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(load, "read_budget", generous_budget)
    assert ran(mix, "--url", url, "--accept")[1].setup.index == "lancedb"
    assert ran(mix, "--url", url, "--index", "weaviate", "--accept")[1].comparison is None
    assert {file.name for file in load.RESULTS.glob("*.json")} == {"tiny-laptop.json", "tiny-laptop-weaviate.json"}


def test_a_run_over_the_budget_leaves_with_1(url: str, mix: Path, late_generator_allowed: None) -> None:
    code, report = ran(mix, "--url", url, "--budget-scale", "0.0001")
    assert (code, report.verdict.outcome) == (1, "fail")
    assert any(reason.startswith("search p95: ") for reason in report.verdict.reasons)


def test_the_run_of_an_overloaded_generator_is_refused_with_2(url: str, mix: Path) -> None:
    code, report = ran(mix, "--url", url, "--rate", "5000", "--budget-scale", "1000")
    assert (code, report.verdict.outcome) == (2, "invalid")
    assert report.verdict.reasons[0].startswith("the generator was late itself")
    assert report.generator.achieved_per_s < report.generator.offered_per_s / 1.2


def test_several_processes_offer_the_rate_together(url: str, mix: Path) -> None:
    _, report = ran(mix, "--url", url, "--processes", "2", "--rate", "100", "--arrivals", "constant")
    assert report.counts.sent == pytest.approx(100, abs=2)


def test_an_accepted_run_is_what_the_next_one_is_compared_with(
    url: str, mix: Path, late_generator_allowed: None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(load, "read_budget", generous_budget)
    _, first = ran(mix, "--url", url, "--accept")
    assert first.comparison is None
    assert {file.name for file in (tmp_path / "results").iterdir()} == {
        "tiny-laptop.json", "tiny-laptop.md", "tiny-laptop.png"
    }  # fmt: skip
    _, second = ran(mix, "--url", url, "--rate", "60")
    assert second.comparison is not None
    assert second.comparison.unlike == ["rate_per_s: 60.0, accepted 50.0"]
    assert {"search latency p95"} < {one.what for one in second.comparison.differences}


def test_a_run_that_did_not_keep_the_whole_budget_is_not_accepted(
    url: str, mix: Path, late_generator_allowed: None, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    code, _ = ran(mix, "--url", url, "--budget-scale", "1000", "--accept")
    assert code == 3
    assert "only a run that keeps the whole budget can be accepted" in capsys.readouterr().err
    assert not (tmp_path / "results").exists()


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--url", "http://example.org:80"], "load goes to this machine only: http://example.org:80 is not"),
        (
            ["--url", "http://127.0.0.1:9", "--target", "search=10.0.0.1:5"],
            "load goes to this machine only: 10.0.0.1:5",
        ),
        (["--url", "http://127.0.0.1:9"], "nothing answers at http://127.0.0.1:9"),
        (["--url", "http://127.0.0.1:9", "--environment", "t5"], "there is no environment t5"),
        (["--url", "http://127.0.0.1:9", "--mix", "other"], "there is no mix other"),
        (["--url", "http://127.0.0.1:9", "--mix", "services"], "say where: --target embedding=127.0.0.1:PORT"),
        (["--rate", "0"], "0 is not over 0"),
        (["--speed", "9"], "unrecognized arguments: --speed 9"),
        (["--target", "search"], "search is not SERVICE=127.0.0.1:PORT"),
    ],
)
def test_what_cannot_be_run_is_told_in_a_sentence_and_leaves_with_3(
    options: list[str], sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["load", *options]) == 3
    (line,) = capsys.readouterr().err.splitlines()
    assert sentence in line


def test_a_stack_without_a_collection_of_the_mix_is_told(url: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["load", "--url", url]) == 3
    assert "has no collection english-at-work, which this mix searches" in capsys.readouterr().err


def test_the_schema_of_the_report_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["schema"]) == 0
    assert json.loads(capsys.readouterr().out)["properties"].keys() == Report.model_fields.keys()
