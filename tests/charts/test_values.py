"""values.yaml is the manual, and values.schema.json holds what it says and nothing else."""

import json
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from typing import Any

import yaml
from helm_python.chart import lint

from charts.settings_schema import KINDS
from tests.charts.rendering import CHART, ROOT, SERVICES

_INFO = 1
# They hold keys that are explained one by one, or together in the line above the whole.
_EXPLAINED_BY_THEIR_PLACE = {"settings", "requests", "limits"}


def object_schemas(schema: Any, path: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    """Every part of the schema that describes an object, with where it stands."""
    if isinstance(schema, dict):
        if schema.get("type") == "object":
            yield path, schema
        for key, part in schema.items():
            yield from object_schemas(part, f"{path}/{key}")
    elif isinstance(schema, list):
        for part in schema:
            yield from object_schemas(part, path)


def test_lint_has_nothing_to_say() -> None:
    report = lint(CHART, strict=True)
    assert report["errors"] == []
    assert [message for message in report["messages"] if message["severity"] > _INFO] == []


def test_the_schema_is_closed_everywhere() -> None:
    schema = json.loads((CHART / "values.schema.json").read_text())
    found = dict(object_schemas(schema))
    assert len(found) > 30
    open_objects = {path for path, part in found.items() if part.get("additionalProperties") is not False}
    assert open_objects == {"/properties/nodeSelector"}  # labels, whose names are the cluster's own


def test_the_schema_holds_the_services_settings_as_they_are() -> None:
    command = (sys.executable, "charts/settings_schema.py", "--check")
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert set(KINDS) == SERVICES


def test_every_value_is_explained_in_the_line_above_it() -> None:
    lines = (CHART / "values.yaml").read_text().splitlines()
    keys = [(number, match[1]) for number, line in enumerate(lines) if (match := re.match(r" *(\w+):", line))]
    assert len(keys) > 40
    silent = [key for number, key in keys if not lines[number - 1].lstrip().startswith("#")]
    assert set(silent) <= _EXPLAINED_BY_THEIR_PLACE


def test_the_chart_is_of_the_version_of_the_package() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert yaml.safe_load((CHART / "Chart.yaml").read_text())["appVersion"] == project["version"]
