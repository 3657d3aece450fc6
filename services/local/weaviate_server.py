"""How nodes of the real Weaviate server are run on this machine: ports, settings, and how to tell that they are ready.

Weaviate binds its gRPC and its cluster port to every address of the machine, whatever it is told. So nobody gets in
without the key that is drawn for each start, and the nodes have a password among themselves.
"""

import secrets
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import httpx

from services.local.environment import LOOPBACK
from services.local.loopback import free_run
from services.shared.index.weaviate_node import WeaviateNode

# http, grpc, gossip, cluster data, raft, raft's calls: Weaviate expects the fourth and the sixth beside the one before.
_PORTS_EACH = 6
_USER = "plumbline"
_TIMEOUT_S = 2.0
# From 97 % of the disk on a node refuses writes. The default, 90 %, is a usual state of a laptop's disk.
DISK_READ_ONLY_PERCENT = 97
# Nodes that share a machine must not each take Weaviate's 80 % of it; soft, and far above what a test keeps in them.
_SHARED_MACHINE_MEMORY = "2GiB"


@dataclass(frozen=True, slots=True)
class NodePlan:
    """One node: its name in the cluster, the first of its six neighbouring ports, and the folder of its data."""

    name: str
    first_port: int
    data: Path

    @property
    def address(self) -> WeaviateNode:
        """Where clients find it."""
        return WeaviateNode(LOOPBACK, self.first_port, self.first_port + 1)


@dataclass(frozen=True, slots=True)
class ClusterPlan:
    """The nodes of one cluster, the key of its clients and the password among its nodes."""

    nodes: tuple[NodePlan, ...]
    api_key: str = field(repr=False)
    password: str = field(repr=False)

    @property
    def addresses(self) -> tuple[WeaviateNode, ...]:
        """Where clients find the nodes."""
        return tuple(node.address for node in self.nodes)


def plan_cluster(count: int, data: Path) -> ClusterPlan:
    """`count` nodes on free ports; one keeps its data in `data` itself, several in a folder each.

    Names are the same every time, so a node finds its data again, on whatever ports.
    """
    first = free_run(_PORTS_EACH * count)
    names = ("plumbline",) if count == 1 else tuple(f"node{number}" for number in range(count))
    nodes = tuple(
        NodePlan(name, first + _PORTS_EACH * number, data if count == 1 else data / name)
        for number, name in enumerate(names)
    )
    return ClusterPlan(nodes, api_key=secrets.token_urlsafe(24), password=secrets.token_urlsafe(24))


def server_command(server: Path, node: NodePlan) -> tuple[str, ...]:
    """The command line of a node."""
    return (str(server), "--scheme", "http", "--host", LOOPBACK, "--port", str(node.first_port))


def engine_variables(api_key: str) -> dict[str, str]:
    """The settings of a node wherever it runs; what concerns a class comes from the index that makes it."""
    return {
        "AUTHENTICATION_ANONYMOUS_ACCESS_ENABLED": "false",
        "AUTHENTICATION_APIKEY_ENABLED": "true",
        "AUTHENTICATION_APIKEY_ALLOWED_KEYS": api_key,
        "AUTHENTICATION_APIKEY_USERS": _USER,
        "AUTHORIZATION_ADMINLIST_ENABLED": "true",
        "AUTHORIZATION_ADMINLIST_USERS": _USER,
        # No page in a browser speaks to it; its default lets every page.
        "CORS_ALLOW_ORIGIN": "http://127.0.0.1",
        # Nothing leaves this machine, and no model is called from inside the engine.
        "DISABLE_TELEMETRY": "true",
        "DEFAULT_VECTORIZER_MODULE": "none",
        "ENABLE_MODULES": "",
        "API_BASED_MODULES_DISABLED": "true",
        # A misspelt property is an error, not a new one; an acknowledged vector is found at once.
        "AUTOSCHEMA_ENABLED": "false",
        "ASYNC_INDEXING": "false",
        # Nobody asks by GraphQL, and its schema is made anew for all classes with every class that is made or dropped:
        # by 300 classes that took 1.3 s and 2 MB for each; without it 0.2 s, the first as the hundred-and-fiftieth.
        "DISABLE_GRAPHQL": "true",
        # Else it serves profiles on port 6060 of every address.
        "GO_PROFILING_DISABLE": "true",
        "DISK_USE_WARNING_PERCENTAGE": str(DISK_READ_ONLY_PERCENT - 7),
        "DISK_USE_READONLY_PERCENTAGE": str(DISK_READ_ONLY_PERCENT),
        # 80 % of the memory that this machine or its container has, and the cores of the container.
        "LIMIT_RESOURCES": "true",
        "LOG_LEVEL": "info",
    }


def node_variables(cluster: ClusterPlan, node: NodePlan) -> dict[str, str]:
    """The environment variables of one node of the cluster, as it runs on this machine."""
    gossip, data, raft, raft_calls = range(node.first_port + 2, node.first_port + _PORTS_EACH)
    variables = engine_variables(cluster.api_key) | {
        "PERSISTENCE_DATA_PATH": str(node.data),
        "GRPC_PORT": str(node.address.grpc_port),
        "CLUSTER_HOSTNAME": node.name,
        "CLUSTER_IN_LOCALHOST": "true",
        "CLUSTER_BIND_ADDR": LOOPBACK,
        "CLUSTER_ADVERTISE_ADDR": LOOPBACK,
        "CLUSTER_GOSSIP_BIND_PORT": str(gossip),
        "CLUSTER_DATA_BIND_PORT": str(data),
        "CLUSTER_BASIC_AUTH_USERNAME": _USER,
        "CLUSTER_BASIC_AUTH_PASSWORD": cluster.password,
        "RAFT_PORT": str(raft),
        "RAFT_INTERNAL_RPC_PORT": str(raft_calls),
        "RAFT_JOIN": ",".join(f"{each.name}:{each.first_port + 4}" for each in cluster.nodes),
        "RAFT_BOOTSTRAP_EXPECT": str(len(cluster.nodes)),
    }
    if len(cluster.nodes) == 1:
        # Alone it need not wait for a leader that does not answer: ready in 3 s instead of 8.
        return variables | {"RAFT_TIMEOUTS_MULTIPLIER": "1"}
    others = [f"{LOOPBACK}:{each.first_port + 2}" for each in cluster.nodes if each is not node]
    return variables | {"CLUSTER_JOIN": ",".join(others), "GOMEMLIMIT": _SHARED_MACHINE_MEMORY}


async def is_ready(cluster: ClusterPlan, node: NodePlan) -> bool:
    """Whether the node serves and sees every node of the cluster well."""
    url = f"http://{LOOPBACK}:{node.first_port}/v1"
    async with httpx.AsyncClient(timeout=_TIMEOUT_S, trust_env=False) as client:
        try:
            ready = await client.get(f"{url}/.well-known/ready")
            seen = await client.get(f"{url}/nodes", headers={"authorization": f"Bearer {cluster.api_key}"})
        except httpx.HTTPError:
            return False
    if (ready.status_code, seen.status_code) != (httpx.codes.OK, httpx.codes.OK):
        return False
    return _healthy(seen.json()["nodes"]) == {each.name for each in cluster.nodes}


def _healthy(nodes: Sequence[dict[str, object]]) -> set[object]:
    return {node["name"] for node in nodes if node["status"] == "HEALTHY"}
