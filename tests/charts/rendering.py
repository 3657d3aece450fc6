"""The chart as Helm renders it, and the one sentence with which wrong values are refused."""

from pathlib import Path
from typing import Any

import yaml
from helm_python.chart import Chart
from helm_python.errors import HelmRenderError, HelmValuesError

ROOT = Path(__file__).resolve().parents[2]
CHART = ROOT / "charts" / "plumbline"
SERVICES = {"gateway", "embedding", "ranking", "search", "answer", "ingest"}
Object = dict[str, Any]


def rendered_files(values: Object | None = None, *, release: str = "demo") -> dict[str, str]:
    """The text that each template renders to, by its file name."""
    with Chart.load(CHART) as chart:
        files = chart.render(values, name=release, namespace="here")
    return {Path(name).name: text for name, text in files.items()}


def render(values: Object | None = None, *, release: str = "demo") -> list[Object]:
    """All objects."""
    files = rendered_files(values, release=release)
    texts = [text for name, text in files.items() if name != "NOTES.txt"]
    return [each for text in texts for each in yaml.safe_load_all(text) if each]


def only(kind: str, objects: list[Object]) -> Object:
    """The one object of this kind."""
    (found,) = (each for each in objects if each["kind"] == kind)
    return found


def trial_pod(values: Object | None = None) -> Object:
    """The Pod's specification."""
    return only("Deployment", render(values))["spec"]["template"]["spec"]


def containers(pod: Object) -> dict[str, Object]:
    """The services' containers by name."""
    return {container["name"]: container for container in pod["containers"]}


def environment(container: Object) -> dict[str, Any]:
    """What a container is told, by variable: a text, or a reference."""
    return {variable["name"]: variable.get("value", variable.get("valueFrom")) for variable in container["env"]}


def refusal(values: Object) -> str:
    """The sentence with which Helm refuses these values. Fails when it takes them, or says more than one."""
    try:
        render(values)
    except HelmRenderError as error:
        return str(error).partition("): ")[2]
    except HelmValuesError as error:
        _, _, sentence = str(error).strip().splitlines()
        return sentence
    raise AssertionError(f"not refused: {values}")
