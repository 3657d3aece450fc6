"""Docker's client stands in as a program of its own: which daemon answers it here is not known."""

import os
from itertools import pairwise
from pathlib import Path

import pytest

from services.local.weaviate_docker import container_command, container_name, container_variables, docker_with_image
from services.local.weaviate_server import ClusterPlan, node_variables, plan_cluster


@pytest.fixture
def docker(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The path of a Docker client on the PATH, which every test writes for itself."""
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}/usr/bin{os.pathsep}/bin")
    return tmp_path / "docker"


def write(docker: Path, *lines: str) -> None:
    docker.write_text("\n".join(("#!/bin/sh", *lines)))
    docker.chmod(0o755)


@pytest.fixture
def alone(tmp_path: Path) -> ClusterPlan:
    return plan_cluster(1, tmp_path / "data")


def test_no_docker_is_no_news(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    said: list[str] = []
    assert docker_with_image(said.append) is None
    assert said == []


def test_a_client_without_a_daemon_is_told_and_not_used(docker: Path) -> None:
    write(docker, "exit 1")
    said: list[str] = []
    assert docker_with_image(said.append) is None
    assert said == ["docker is installed, but no daemon answers it"]


def test_an_image_that_is_there_is_not_fetched(docker: Path) -> None:
    write(docker, '[ "$1" != pull ]')
    said: list[str] = []
    assert docker_with_image(said.append) == str(docker)
    assert said == []


def test_an_image_that_cannot_be_fetched_is_told_and_docker_not_used(docker: Path) -> None:
    write(docker, '[ "$1" = version ]')
    said: list[str] = []
    assert docker_with_image(said.append) is None
    assert said[-1] == "docker cannot fetch semitechnologies/weaviate:1.39.0"


def test_the_container_is_reached_on_loopback_only_and_sees_its_own_data_only(alone: ClusterPlan) -> None:
    command = container_command("docker", alone)
    given = list(pairwise(command))
    http, grpc = alone.addresses[0].http_port, alone.addresses[0].grpc_port
    assert [value for option, value in given if option == "--publish"] == [
        f"127.0.0.1:{http}:{http}",
        f"127.0.0.1:{grpc}:{grpc}",
    ]
    assert [value for option, value in given if option == "--volume"] == [
        f"{alone.nodes[0].data}:{container_variables(alone)['PERSISTENCE_DATA_PATH']}"
    ]


def test_the_key_is_handed_over_without_being_on_the_command_line(alone: ClusterPlan) -> None:
    command = container_command("docker", alone)
    assert not any(alone.api_key in part for part in command)
    assert container_variables(alone)["AUTHENTICATION_APIKEY_ALLOWED_KEYS"] == alone.api_key
    assert "AUTHENTICATION_APIKEY_ALLOWED_KEYS" in command


def test_the_node_in_a_container_is_told_the_same_but_for_its_folder(alone: ClusterPlan) -> None:
    here, inside = node_variables(alone, alone.nodes[0]), container_variables(alone)
    assert {name for name in here if here[name] != inside[name]} == {"PERSISTENCE_DATA_PATH"}


def test_a_container_left_over_on_the_same_data_is_removed_before_the_new_one_runs(
    docker: Path, alone: ClusterPlan
) -> None:
    write(docker, f'echo "$1 $2 $3 $4" >> {docker.parent}/calls')
    command = container_command(str(docker), alone)
    assert os.spawnv(os.P_WAIT, command[0], command) == 0
    name = container_name(alone)
    assert (docker.parent / "calls").read_text().splitlines() == [f"rm --force {name} ", f"run --rm --name {name}"]


def test_every_data_folder_has_a_container_name_of_its_own(tmp_path: Path) -> None:
    names = {container_name(plan_cluster(1, tmp_path / folder)) for folder in ("a", "a", "b")}
    assert len(names) == 2
