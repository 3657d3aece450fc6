"""Starting: what is in the way is one sentence, and what was kept is there again."""

import socket
from pathlib import Path

import pytest

from tests.system.conftest import START_S, Stack, free_port, running_stack, start


def refusal(data: Path, port: int) -> str:
    """The one line that a start that is refused prints."""
    process = start(data, port)
    output, _ = process.communicate(timeout=60)
    assert process.returncode == 1
    lines = output.decode().splitlines()
    assert len(lines) == 1, output.decode()
    return lines[0]


def test_a_second_start_on_the_same_folder_is_refused_in_one_sentence(stack: Stack) -> None:
    assert "is in use" in refusal(stack.data, free_port())
    assert stack.status()["ready"]


def test_a_taken_port_is_one_sentence(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        assert f"port {port} is taken" in refusal(tmp_path, port)


@pytest.mark.timeout(3 * START_S)  # it starts two stacks
@pytest.mark.parametrize("engine", ["lancedb", pytest.param("weaviate", marks=pytest.mark.weaviate)])
def test_what_was_stored_is_there_after_a_restart(request: pytest.FixtureRequest, tmp_path: Path, engine: str) -> None:
    if engine == "weaviate":
        request.getfixturevalue("weaviate_server")
    with running_stack(tmp_path, INDEX=engine) as first:
        first.http.post("/v1/collections", json={"name": "kept", "profile": "docs", "locale": "en"})
        first.put("kept", {"id": "a", "text": "Herons stand in shallow water."})
        before = first.search("kept", "herons")
    with running_stack(tmp_path, INDEX=engine) as second:
        after = second.search("kept", "herons")
    assert [hit["chunk_id"] for hit in after["hits"]] == [hit["chunk_id"] for hit in before["hits"]]
    assert after["generation"] == before["generation"]
