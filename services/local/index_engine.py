"""The engine of the index on this machine: the embedded one, a part of the services, or a Weaviate beside them.

A Weaviate is one node. It runs from its Docker image where a Docker daemon is there, else as the built server.
"""

import shutil
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

from services.local.data_folder import fresh_log
from services.local.environment import IndexServer
from services.local.failure import Failure
from services.local.service_process import ServiceSpec
from services.local.settings import LocalSettings
from services.local.weaviate_build import ensure_server
from services.local.weaviate_docker import container_command, container_variables, docker_with_image
from services.local.weaviate_server import (
    DISK_READ_ONLY_PERCENT,
    ClusterPlan,
    is_ready,
    node_variables,
    plan_cluster,
    server_command,
)
from services.shared.index.weaviate_node import format_nodes

EMBEDDED = "lancedb"
# Where each engine keeps its data, seen from the data folder.
FOLDERS = {EMBEDDED: "index", "weaviate": "weaviate"}


# The command line and the environment variables that run a cluster of one node here.
WeaviateProgram = Callable[[ClusterPlan], tuple[tuple[str, ...], Mapping[str, str]]]


def require_engine(engine: str, data: Path) -> None:
    """Raise Failure when `data` holds the index of another engine: this one would not find its documents."""
    for other, folder in FOLDERS.items():
        if other != engine and (data / folder).is_dir() and any((data / folder).iterdir()):
            raise Failure(
                f"{data} holds an index of {other}; go on with make run INDEX={other}, or choose another folder: "
                f"make run INDEX={engine} DATA=<folder>"
            )


def weaviate_program(settings: LocalSettings, report: Callable[[str], None]) -> WeaviateProgram:
    """What to run, fetched or built when needed, which may take minutes. Raises Failure."""
    if client := docker_with_image(report):
        return lambda cluster: (container_command(client, cluster), container_variables(cluster))
    server = ensure_server(settings.weaviate_folder, report)
    return lambda cluster: (server_command(server, cluster.nodes[0]), node_variables(cluster, cluster.nodes[0]))


def weaviate_service(program: WeaviateProgram | None, data: Path) -> tuple[ServiceSpec | None, IndexServer | None]:
    """How to run Weaviate over `data`, and what the services are told about it; nothing for the embedded engine.

    Raises Failure when the disk is so full that Weaviate would refuse every write.
    """
    if program is None:
        return None, None
    folder = data / FOLDERS["weaviate"]
    folder.mkdir(parents=True, exist_ok=True)
    _require_space(folder)
    cluster = plan_cluster(1, folder)
    command, variables = program(cluster)
    ready = partial(is_ready, cluster, cluster.nodes[0])
    spec = ServiceSpec("weaviate", command, variables, fresh_log(data, "weaviate"), ready)
    return spec, IndexServer(format_nodes(cluster.addresses), cluster.api_key)


def _require_space(folder: Path) -> None:
    disk = shutil.disk_usage(folder)
    if (percent := 100 * disk.used / disk.total) >= DISK_READ_ONLY_PERCENT:  # as Weaviate counts
        raise Failure(
            f"the disk of {folder} is {percent:.0f} % full, and Weaviate refuses writes from "
            f"{DISK_READ_ONLY_PERCENT} % on; free some space, or choose another folder: make run DATA=<folder>"
        )
