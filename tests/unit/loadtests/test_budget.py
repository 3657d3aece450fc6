from pathlib import Path
from typing import Any

import pytest
import yaml

from loadtests.budget import SLO_FILE, read_budget
from services.local.failure import Failure

STAGE = {
    "says": "search, whole",
    "call": "search",
    "measure": "latency",
    "limits_ms": {"laptop": {"p50": 40, "p95": 80, "p99": 160}},
}
BUDGET = {
    "environments": {"laptop": "two cores"},
    "objectives": {"answered": 0.999, "complete": 0.99},
    "stages": {"search": STAGE},
}


def written(folder: Path, content: Any) -> Path:
    file = folder / "slo.yaml"
    file.write_text(yaml.safe_dump(content))
    return file


def test_the_budget_of_the_repository_has_the_designs_stages_and_p95() -> None:
    budget = read_budget(SLO_FILE)
    p95 = {
        environment: {name: limits.p95 for name, limits in budget.limits(environment).items()}
        for environment in ("t4_500k", "t4_3m")
    }
    assert p95 == {
        "t4_500k": {
            "hops": 10, "embed": 25, "legs": 40, "rank": 15, "search": 120, "first_token": 900, "answer": 2000
        },
        "t4_3m": {
            "hops": 10, "embed": 25, "legs": 90, "rank": 15, "search": 180, "first_token": 1000, "answer": 2000
        },
    }  # fmt: skip
    assert budget.limits("laptop").keys() == p95["t4_500k"].keys()


def test_halving_the_budget_halves_every_limit(tmp_path: Path) -> None:
    budget = read_budget(written(tmp_path, BUDGET))
    assert budget.limits("laptop")["search"].model_dump() == {"p50": 40, "p95": 80, "p99": 160}
    assert budget.limits("laptop", scale=0.5)["search"].model_dump() == {"p50": 20, "p95": 40, "p99": 80}


@pytest.mark.parametrize(
    ("stage", "sentence"),
    [
        (STAGE | {"p95": 3}, "stages.search.p95: there is no such key"),
        (STAGE | {"limits_ms": {"laptop": {"p50": 1, "p95": 2, "p99": 3, "p999": 4}}}, "p999: there is no such key"),
        (STAGE | {"limits_ms": {"laptop": {"p50": 40, "p95": 80}}}, "limits_ms.laptop.p99: Field required"),
        (STAGE | {"limits_ms": {"laptop": {"p50": 40, "p95": 30, "p99": 160}}}, "must rise from p50 over p95 to p99"),
        (STAGE | {"limits_ms": {"laptop": {"p50": 0, "p95": 30, "p99": 160}}}, "greater than 0"),
        (STAGE | {"limits_ms": {"lapdog": STAGE["limits_ms"]["laptop"]}}, "do not agree on lapdog, laptop"),
        (STAGE | {"call": "write"}, "stages.search.call"),
    ],
)
def test_a_fault_in_a_stage_is_told_with_its_place(tmp_path: Path, stage: dict[str, Any], sentence: str) -> None:
    with pytest.raises(Failure, match=sentence):
        read_budget(written(tmp_path, BUDGET | {"stages": {"search": stage}}))


def test_an_unknown_key_at_the_top_is_refused(tmp_path: Path) -> None:
    with pytest.raises(Failure, match="alerts: there is no such key"):
        read_budget(written(tmp_path, BUDGET | {"alerts": {}}))


def test_a_file_that_is_missing_empty_or_no_yaml_is_told(tmp_path: Path) -> None:
    with pytest.raises(Failure, match="cannot be read: No such file"):
        read_budget(tmp_path / "slo.yaml")
    with pytest.raises(Failure, match="the whole file"):
        read_budget(written(tmp_path, None))
    (tmp_path / "slo.yaml").write_text("stages: [")
    with pytest.raises(Failure, match="is no YAML"):
        read_budget(tmp_path / "slo.yaml")


def test_an_unknown_environment_is_told_with_those_there_are(tmp_path: Path) -> None:
    with pytest.raises(Failure, match="no environment t5; there are laptop"):
        read_budget(written(tmp_path, BUDGET)).limits("t5")
