"""Runs nodes of the real Weaviate server for as long as a block lasts: for tests and measurements.

`make run` keeps its one node by the supervisor instead, which starts it again when it ends.
"""

import asyncio
import os
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from services.local.failure import Failure
from services.local.service_process import last_words, manner_of_end
from services.local.tethered import tethered
from services.local.weaviate_server import ClusterPlan, is_ready, node_variables, plan_cluster, server_command
from services.shared.index.weaviate_node import WeaviateNode

_POLL_S = 0.1
_READY_WITHIN_S = 120.0
_STOP_GRACE_S = 30.0


class RunningNodes:
    """The nodes of one cluster, each a process of its own that ends with this one; numbered from 0."""

    def __init__(self, server: Path, cluster: ClusterPlan, logs: Path) -> None:
        self._server = server
        self._cluster = cluster
        self._logs = logs
        self._processes: dict[int, subprocess.Popen[bytes]] = {}

    @property
    def addresses(self) -> tuple[WeaviateNode, ...]:
        """Where clients find the nodes, also one that does not run now."""
        return self._cluster.addresses

    @property
    def api_key(self) -> str:
        """The key that clients must show."""
        return self._cluster.api_key

    def process_id(self, number: int) -> int:
        """The process id of a node that was started."""
        return self._processes[number].pid

    def start(self, number: int) -> None:
        """Start a node that does not run, on its own ports and data; `until_ready` waits for it.

        To be called from a thread that lives as long as the node should.
        """
        node = self._cluster.nodes[number]
        node.data.mkdir(parents=True, exist_ok=True)
        with self._log(number).open("ab") as log:
            self._processes[number] = subprocess.Popen(
                tethered(server_command(self._server, node)),
                env=os.environ | node_variables(self._cluster, node),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                process_group=0,
            )

    def kill(self, number: int) -> None:
        """End a node at once, as a machine that loses its power would."""
        self._processes[number].kill()
        self._processes[number].wait()

    async def until_ready(self) -> None:
        """Return once every node serves and sees all others. Raises Failure when one ended or two minutes are over."""
        try:
            async with asyncio.timeout(_READY_WITHIN_S):
                for node in self._cluster.nodes:
                    while not await is_ready(self._cluster, node):
                        self._require_running()
                        await asyncio.sleep(_POLL_S)
        except TimeoutError:
            raise Failure(
                f"Weaviate is not ready after {_READY_WITHIN_S:.0f} s; its logs are in {self._logs}"
            ) from None

    def stop(self) -> None:
        """End all nodes; one that takes more than half a minute is killed."""
        for process in self._processes.values():
            process.terminate()
        deadline = time.monotonic() + _STOP_GRACE_S
        for process in self._processes.values():
            try:
                process.wait(max(0.0, deadline - time.monotonic()))
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()

    def _require_running(self) -> None:
        for number, process in self._processes.items():
            if (code := process.poll()) is not None:
                log = self._log(number)
                raise Failure(f"Weaviate {manner_of_end(code)}: {last_words(log)} (see {log})")

    def _log(self, number: int) -> Path:
        return self._logs / f"{self._cluster.nodes[number].name}.log"


@contextmanager
def running_nodes(count: int, server: Path, folder: Path) -> Iterator[RunningNodes]:
    """`count` nodes that are ready and see one another, their data and logs in `folder`, until the block ends.

    Not to be entered inside an event loop. Raises Failure when they do not start.
    """
    logs = folder / "logs"
    logs.mkdir(parents=True, exist_ok=True)
    nodes = RunningNodes(server, plan_cluster(count, folder / "data"), logs)
    try:
        for number in range(count):
            nodes.start(number)
        asyncio.run(nodes.until_ready())
        yield nodes
    finally:
        nodes.stop()
