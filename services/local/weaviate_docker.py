"""Weaviate from its own Docker image, where a Docker daemon is there: nothing is built then."""

import hashlib
import os
import shutil
import subprocess
from collections.abc import Callable

from services.local.environment import LOOPBACK
from services.local.weaviate_build import VERSION
from services.local.weaviate_server import ClusterPlan, node_variables

IMAGE = f"semitechnologies/weaviate:{VERSION}"
_DATA = "/var/lib/weaviate"
# A daemon that is there answers in a fraction of it.
_ANSWERS_WITHIN_S = 10.0
# A container outlives a client that was killed, so one of this name is a left-over of an earlier run on the same data.
_REPLACING = '"$1" rm --force "$2" >/dev/null 2>&1; docker="$1"; shift; exec "$docker" run --rm --name "$@"'


def docker_with_image(report: Callable[[str], None]) -> str | None:
    """The Docker client, once the image is there; None, with a line that says why, where Docker is of no use."""
    client = shutil.which("docker")
    if client is None:
        return None
    if not _succeeds(client, "version", "--format", "{{.Server.Version}}"):
        report("docker is installed, but no daemon answers it")
        return None
    if not _succeeds(client, "image", "inspect", IMAGE):
        report(f"fetching the image {IMAGE}, once")
        if subprocess.run((client, "pull", "--quiet", IMAGE), check=False).returncode != 0:
            report(f"docker cannot fetch {IMAGE}")
            return None
    return client


def container_command(client: str, cluster: ClusterPlan) -> tuple[str, ...]:
    """The command line of a cluster of one in a container that sees the node's data folder and nothing else here."""
    (node,) = cluster.nodes
    ports = [f"{LOOPBACK}:{port}:{port}" for port in (node.address.http_port, node.address.grpc_port)]
    # The values come from the client's environment: a key is not to be read in the list of processes.
    variables = [part for variable in container_variables(cluster) for part in ("--env", variable)]
    return (
        "/bin/sh", "-c", _REPLACING, "sh", client, container_name(cluster),
        "--user", f"{os.getuid()}:{os.getgid()}",
        "--publish", ports[0], "--publish", ports[1],
        "--volume", f"{node.data}:{_DATA}",
        *variables,
        IMAGE, "--scheme", "http", "--host", "0.0.0.0", "--port", str(node.address.http_port),
    )  # fmt: skip


def container_name(cluster: ClusterPlan) -> str:
    """One name for each data folder."""
    return f"plumbline-weaviate-{hashlib.sha256(str(cluster.nodes[0].data).encode()).hexdigest()[:12]}"


def container_variables(cluster: ClusterPlan) -> dict[str, str]:
    """The environment variables of that node: its ports are the same inside, its folder is another."""
    return node_variables(cluster, cluster.nodes[0]) | {"PERSISTENCE_DATA_PATH": _DATA}


def _succeeds(*command: str) -> bool:
    try:
        return subprocess.run(command, check=False, capture_output=True, timeout=_ANSWERS_WITHIN_S).returncode == 0
    except subprocess.TimeoutExpired:
        return False
