"""The real server: `make test-weaviate`."""

import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import pytest

from services.local.failure import Failure
from services.local.weaviate_nodes import RunningNodes, running_nodes
from services.shared.index.weaviate_node import WeaviateNode

pytestmark = pytest.mark.weaviate

PARENT = """
import sys, pathlib
from services.local.weaviate_nodes import running_nodes
with running_nodes(1, pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])) as nodes:
    print(nodes.process_id(0), flush=True)
    input()
"""


@pytest.fixture
def three(weaviate_server: Path, tmp_path: Path) -> Iterator[RunningNodes]:
    with running_nodes(3, weaviate_server, tmp_path) as running:
        yield running


def status_of(node: WeaviateNode, path: str, **headers: str) -> int:
    return httpx.get(f"http://127.0.0.1:{node.http_port}/v1/{path}", headers=headers).status_code


def seen_by(nodes: RunningNodes, number: int) -> dict[str, str]:
    """The state of every node, as one of them sees it."""
    url = f"http://127.0.0.1:{nodes.addresses[number].http_port}/v1/nodes"
    told = httpx.get(url, headers={"authorization": f"Bearer {nodes.api_key}"}).json()["nodes"]
    return {node["name"]: node["status"] for node in told}


async def test_three_nodes_see_one_another_and_again_when_a_killed_one_has_returned(three: RunningNodes) -> None:
    well = {f"node{number}": "HEALTHY" for number in range(3)}
    assert [seen_by(three, number) for number in range(3)] == [well] * 3
    three.kill(0)
    assert status_of(three.addresses[1], ".well-known/ready") == 200
    three.start(0)
    await three.until_ready()
    assert [seen_by(three, number) for number in range(3)] == [well] * 3


def test_only_the_key_opens_it(weaviate_server: Path, tmp_path: Path) -> None:
    with running_nodes(1, weaviate_server, tmp_path) as running:
        (node,) = running.addresses
        assert status_of(node, "schema") == 401
        assert status_of(node, "schema", authorization="Bearer other") == 401
        assert status_of(node, "schema", authorization=f"Bearer {running.api_key}") == 200


def test_a_start_that_fails_is_one_sentence_and_leaves_no_process(weaviate_server: Path, tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "raft").write_text("where a folder must be")
    told = r"^Weaviate ended with exit code \d+: .+ \(see .+plumbline\.log\)$"
    with pytest.raises(Failure, match=told), running_nodes(1, weaviate_server, tmp_path):
        raise AssertionError("it started")


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux ends a process with its parent")
def test_a_node_ends_with_the_process_that_started_it_even_when_that_is_killed(
    weaviate_server: Path, tmp_path: Path, has_ended: Callable[[int], bool]
) -> None:
    command = (sys.executable, "-c", PARENT, str(weaviate_server), str(tmp_path))
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as parent:
        assert parent.stdout is not None
        node = int(parent.stdout.readline())
        parent.kill()
    assert has_ended(node)


def test_nodes_stop_with_the_block_and_their_ports_are_free_again(weaviate_server: Path, tmp_path: Path) -> None:
    with running_nodes(1, weaviate_server, tmp_path) as running:
        (node,) = running.addresses
    for port in (node.http_port, node.grpc_port):
        with socket.socket() as probe:
            assert probe.connect_ex(("127.0.0.1", port)) != 0
