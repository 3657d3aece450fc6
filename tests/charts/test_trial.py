"""What the Pod says is true: its environment starts all six services, its probes turn, and it stops when told to."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

import pytest

from services.local.loopback import free_ports
from tests.charts.rendering import SERVICES, Object, containers, environment, only, render

# Six processes import their libraries at once; on two busy cores that takes most of a minute.
_WITHIN_S = 150.0


@dataclass(frozen=True, slots=True)
class Trial:
    """The rendered containers, run as processes of this machine; `folder` stands for the file system of all of them."""

    pod: Object
    folder: Path
    processes: dict[str, subprocess.Popen[bytes]]

    def probe(self, container: str, kind: str) -> subprocess.CompletedProcess[str]:
        """Run a probe's own command."""
        _, script, *arguments = containers(self.pod)[container][f"{kind}Probe"]["exec"]["command"]
        command = (sys.executable, f"{self.folder}{script}", *arguments)
        return subprocess.run(command, capture_output=True, text=True, check=False)

    def request(self, method: str, path: str, body: object = None) -> Any:
        """What the gateway answers."""
        port = environment(containers(self.pod)["gateway"])["PLUMBLINE_GATEWAY_PORT"]
        sent = None if body is None else json.dumps(body).encode()
        headers = {"content-type": "application/json"}
        with urlopen(Request(f"http://127.0.0.1:{port}{path}", sent, headers, method=method), timeout=20) as answer:
            return json.load(answer)


def eventually(holds: Callable[[], bool]) -> None:
    """Ask until it holds, twice a second: a question costs CPU that the services need to start."""
    end = time.monotonic() + _WITHIN_S
    while not holds():
        assert time.monotonic() < end, "it never held"
        time.sleep(0.5)


@pytest.fixture(scope="module")
def trial(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Trial]:
    """All containers, started at once as a kubelet does, with the encoder without weights."""
    folder = tmp_path_factory.mktemp("pod")
    ports = iter(free_ports(11))
    values: Object = {"services": {name: {"port": next(ports)} for name in SERVICES}}
    for name in SERVICES - {"gateway"}:
        values["services"][name]["metricsPort"] = next(ports)
    values["services"]["embedding"]["settings"] = {"model": "hashing"}
    objects = render(values)
    pod = only("Deployment", objects)["spec"]["template"]["spec"]
    assert "initContainers" not in pod
    for container in pod["containers"]:
        for mount in container["volumeMounts"]:
            (folder / mount["mountPath"].lstrip("/")).mkdir(parents=True, exist_ok=True)
    for name, script in only("ConfigMap", objects)["data"].items():
        (folder / "etc/plumbline" / name).write_text(script)
    processes: dict[str, subprocess.Popen[bytes]] = {}
    try:
        for container in pod["containers"]:
            name = container["name"]
            told = {variable: _value(value, folder) for variable, value in environment(container).items()}
            with (folder / f"{name}.log").open("wb") as log:
                processes[name] = subprocess.Popen(
                    (sys.executable, "-m", f"services.{name}"), env=os.environ | told, stdout=log, stderr=log
                )
        yield Trial(pod, folder, processes)
    finally:
        for process in processes.values():
            process.kill()
            process.wait()


def _value(value: str | Object, folder: Path) -> str:
    if isinstance(value, str):
        return value.replace("/data/", f"{folder}/data/")
    assert value == {"resourceFieldRef": {"resource": "limits.cpu", "divisor": "1"}}
    return "1"


@pytest.mark.timeout(300)
def test_six_containers_become_ready_together_and_answer(trial: Trial) -> None:
    def all_ready() -> bool:
        ended = {name: process.returncode for name, process in trial.processes.items() if process.poll() is not None}
        assert not ended
        return all(trial.probe(name, "readiness").returncode == 0 for name in sorted(SERVICES))

    eventually(all_ready)
    assert [trial.probe(name, "liveness").returncode for name in SERVICES] == [0] * len(SERVICES)
    assert trial.request("GET", "/v1/status")["ready"]

    trial.request("POST", "/v1/collections", {"name": "handbook", "profile": "docs", "locale": "en"})
    documents = [{"id": "leave", "title": "Leave", "text": "Parental leave lasts sixteen weeks and is fully paid."}]
    job = trial.request("PUT", "/v1/collections/handbook/documents", {"documents": documents})["job_id"]
    eventually(lambda: trial.request("GET", f"/v1/jobs/{job}")["state"] == "succeeded")
    (hit,) = trial.request("POST", "/v1/search", {"collection": "handbook", "query": "parental leave"})["hits"]
    assert hit["document_id"] == "leave"

    for process in trial.processes.values():
        process.send_signal(signal.SIGTERM)
    codes = {
        name: process.wait(trial.pod["terminationGracePeriodSeconds"]) for name, process in trial.processes.items()
    }
    assert codes == dict.fromkeys(SERVICES, 0)
    assert trial.probe("search", "liveness").returncode == 1
