from pathlib import Path

import pytest

from services.local import index_engine
from services.local.failure import Failure
from services.local.index_engine import require_engine, weaviate_service
from services.local.weaviate_server import ClusterPlan, node_variables
from services.shared.index.weaviate_node import format_nodes


def a_program(cluster: ClusterPlan) -> tuple[tuple[str, ...], dict[str, str]]:
    return ("/bin/weaviate",), node_variables(cluster, cluster.nodes[0])


@pytest.mark.parametrize(
    ("engine", "other", "folder"), [("weaviate", "lancedb", "index"), ("lancedb", "weaviate", "weaviate")]
)
def test_the_index_of_another_engine_is_one_sentence_with_both_ways_out(
    tmp_path: Path, engine: str, other: str, folder: str
) -> None:
    (tmp_path / folder / "something").mkdir(parents=True)
    with pytest.raises(Failure, match=rf"holds an index of {other}; .*INDEX={other}, .*INDEX={engine} DATA=<folder>$"):
        require_engine(engine, tmp_path)
    require_engine(other, tmp_path)


@pytest.mark.parametrize("engine", ["lancedb", "weaviate"])
def test_a_folder_without_an_index_takes_any_engine(tmp_path: Path, engine: str) -> None:
    (tmp_path / "index").mkdir()
    require_engine(engine, tmp_path)
    require_engine(engine, tmp_path / "not there")


def test_the_embedded_engine_needs_no_server(tmp_path: Path) -> None:
    assert weaviate_service(None, tmp_path) == (None, None)
    assert list(tmp_path.iterdir()) == []


def test_services_are_told_where_the_server_is_and_its_key(tmp_path: Path) -> None:
    clusters: list[ClusterPlan] = []

    def program(cluster: ClusterPlan) -> tuple[tuple[str, ...], dict[str, str]]:
        clusters.append(cluster)
        return a_program(cluster)

    spec, server = weaviate_service(program, tmp_path)
    (cluster,) = clusters
    assert spec and server
    assert server.nodes == format_nodes(cluster.addresses)
    assert server.api_key == spec.environment["AUTHENTICATION_APIKEY_ALLOWED_KEYS"]
    assert cluster.nodes[0].data == tmp_path / "weaviate"


def test_a_disk_that_is_too_full_for_writes_is_told_before_the_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(index_engine, "DISK_READ_ONLY_PERCENT", 0)
    with pytest.raises(Failure, match=r"% full, and Weaviate refuses writes from 0 % on; .*make run DATA=<folder>$"):
        weaviate_service(a_program, tmp_path)
