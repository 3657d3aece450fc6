"""The engines that are measured: the embedded one in a folder, and a node of the real Weaviate server."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx

from loadtests.process_figures import resident_mib
from services.local.settings import read_settings
from services.local.weaviate_build import ensure_server
from services.local.weaviate_nodes import running_nodes
from services.shared.index.lance_index import DEFAULT_LISTS, LanceIndex
from services.shared.index.port import Index
from services.shared.index.weaviate_class import VECTORS, class_name
from services.shared.index.weaviate_index import DEFAULT_EF, WeaviateIndex
from services.shared.index.weaviate_node import WeaviateNode, format_nodes

ENGINES = ("lancedb", "weaviate")
EFFORTS = (64, 128, 256)
"""How much an approximate search looks at: lists of vectors in LanceDB, Weaviate's `ef`."""
JUDGED_EFFORT = 128
"""The effort whose recall has a target."""


@dataclass(frozen=True, slots=True)
class Engine:
    """Where an engine keeps its index: a folder, or a node with the key it asks for and its process."""

    name: str
    folder: Path
    node: WeaviateNode | None = None
    api_key: str | None = None
    server_pid: int | None = None

    @property
    def default_effort(self) -> int:
        """What the product looks at."""
        return DEFAULT_LISTS if self.node is None else DEFAULT_EF

    async def open(self, *, effort: int | None = None) -> Index:
        """The index; the effort holds for the embedded engine, and for generations made from here."""
        effort = effort or self.default_effort
        if self.node is None:
            return await LanceIndex.open(self.folder, effort=effort)
        return await WeaviateIndex.open([self.node], api_key=self.api_key, ef=effort)

    def set_effort(self, generation_id: str, effort: int) -> None:
        """Let searches of a generation that is there make this effort; the embedded engine is told by `open`."""
        if self.node is None:
            return
        headers = {"authorization": f"Bearer {self.api_key}"} if self.api_key else {}
        url = f"http://{self.node.host}:{self.node.http_port}/v1/schema/{class_name(generation_id)}"
        with httpx.Client(headers=headers, trust_env=False, timeout=30) as client:
            definition = client.get(url).raise_for_status().json()
            definition["vectorConfig"][VECTORS]["vectorIndexConfig"]["ef"] = effort
            client.put(url, json=definition).raise_for_status()

    def service_variables(self) -> Mapping[str, str]:
        """What a service is told about the index, without the service's prefix."""
        if self.node is None:
            return {"INDEX_FOLDER": str(self.folder)}
        return {"WEAVIATE_NODES": format_nodes([self.node])} | (
            {"WEAVIATE_API_KEY": self.api_key} if self.api_key else {}
        )

    def server_mib(self) -> float:
        """Resident memory of the engine's own process, 0 where it has none."""
        return 0.0 if self.server_pid is None else resident_mib(self.server_pid)

    def disk_mib(self) -> float:
        """What the engine's files take."""
        return sum(file.stat().st_size for file in self.folder.rglob("*") if file.is_file()) / 2**20


@contextmanager
def running_engine(name: str, folder: Path) -> Iterator[Engine]:
    """The engine with its data in `folder`, until the block ends. Not to be entered inside an event loop.

    Raises Failure when Weaviate cannot be built or does not start.
    """
    folder.mkdir(parents=True)
    if name == "lancedb":
        yield Engine(name, folder)
        return
    server = ensure_server(read_settings().weaviate_folder)
    with running_nodes(1, server, folder) as running:
        yield Engine(name, folder, running.addresses[0], running.api_key, running.process_id(0))
