"""All six services as `make run` starts them, with the encoder that needs no weights, over a folder of their own."""

import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest

# Six interpreters on two busy cores; a warm start takes well under half of it.
START_S = 90
JOB_S = 60


@dataclass(frozen=True, slots=True)
class Stack:
    """A running stack; `http` speaks to its gateway."""

    process: subprocess.Popen[bytes]
    http: httpx.Client
    data: Path

    def status(self) -> dict[str, object]:
        """`GET /v1/status`."""
        return self.http.get("/v1/status").json()

    def finished(self, job_id: str) -> dict[str, object]:
        """The job once it has ended."""
        deadline = time.monotonic() + JOB_S
        while time.monotonic() < deadline:
            job = self.http.get(f"/v1/jobs/{job_id}").json()
            if job["state"] not in ("queued", "running"):
                return job
            time.sleep(0.1)
        raise AssertionError(f"the job did not end: {job}")

    def put(self, collection: str, *documents: dict[str, object]) -> dict[str, object]:
        """The finished job of these documents."""
        response = self.http.put(f"/v1/collections/{collection}/documents", json={"documents": documents})
        assert response.status_code == 202, response.text
        return self.finished(response.json()["job_id"])

    def search(self, collection: str, query: str, **body: object) -> dict[str, object]:
        """`POST /v1/search`, which must succeed."""
        response = self.http.post("/v1/search", json={"collection": collection, "query": query, **body})
        assert response.status_code == 200, response.text
        return response.json()

    def events(self, collection: str, question: str, **body: object) -> list[tuple[str, dict[str, object]]]:
        """The events of a streamed answer."""
        asked = {"collection": collection, "question": question, **body}
        with self.http.stream("POST", "/v1/answers", json=asked) as response:
            assert response.headers["content-type"].startswith("text/event-stream")
            text = "".join(response.iter_text())
        found = re.findall(r"event: (\w+)\r?\ndata: (.*)\r?\n", text)
        return [(name, json.loads(data)) for name, data in found]

    def process_of(self, service: str) -> int:
        """The process id of a service, asked of the kernel: the supervisor's child that runs its module or program."""
        for pid in descendants(self.process.pid):
            command = Path(f"/proc/{pid}/cmdline").read_bytes().decode().split("\0")
            if f"services.{service}" in command or Path(command[0]).name == f"{service}-server":
                return pid
        raise AssertionError(f"{service} has no process")


def descendants(pid: int) -> list[int]:
    """Ids of all processes below `pid`."""
    found: list[int] = []
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        for child in task.read_text().split():
            found += [int(child), *descendants(int(child))]
    return found


def free_port() -> int:
    """A port that was free a moment ago."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def start(data: Path, port: int, **knobs: str) -> subprocess.Popen[bytes]:
    """`make run` without the set-up."""
    given = {"PORT": str(port), "DATA": str(data), "MODEL": "hashing", "SAMPLE": "0", **knobs}
    return subprocess.Popen(
        [sys.executable, "-m", "services.local", "run"],
        env={**os.environ, **given},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )


def wait_until_ready(http: httpx.Client, process: subprocess.Popen[bytes]) -> None:
    """Return once all six services serve."""
    deadline = time.monotonic() + START_S
    while time.monotonic() < deadline:
        if process.poll() is not None:
            raise AssertionError(process.stdout.read().decode())
        try:
            if http.get("/v1/status").json()["ready"]:
                return
        except httpx.TransportError:
            pass
        time.sleep(0.1)
    raise AssertionError("the stack did not become ready")


@contextmanager
def running_stack(data: Path, **knobs: str) -> Iterator[Stack]:
    """A stack until the block ends; then Ctrl-C, exit code 0, and no process left."""
    port = free_port()
    process = start(data, port, **knobs)
    try:
        with httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=30) as http:
            wait_until_ready(http, process)
            yield Stack(process, http, data)
        children = descendants(process.pid)
        process.send_signal(signal.SIGINT)
        process.wait(60)
        assert process.returncode == 0
        assert [pid for pid in children if Path(f"/proc/{pid}").exists()] == []
    finally:
        if process.poll() is None:
            process.kill()
            process.wait(10)


@pytest.fixture(scope="session")
def embedded_stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    with running_stack(tmp_path_factory.mktemp("data")) as running:
        yield running


@pytest.fixture(scope="session")
def weaviate_stack(weaviate_server: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    """A stack that keeps its index in a Weaviate of its own."""
    with running_stack(tmp_path_factory.mktemp("data"), INDEX="weaviate") as running:
        yield running


@pytest.fixture(scope="session")
def stack(embedded_stack: Stack) -> Stack:
    return embedded_stack
