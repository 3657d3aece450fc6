"""The processes of one pair of engines: embedding, ingest, and the servers of catalog and index where they have any."""

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from loadtests.ingest_faults.killable import Killable
from loadtests.ingest_faults.moments import Victim
from services.local.data_folder import fresh_log
from services.local.environment import LOOPBACK, SERVICES, IndexServer, Options, environment
from services.local.index_engine import weaviate_service
from services.local.loopback import free_ports
from services.local.postgres_server import running_server
from services.local.readiness import is_serving
from services.local.service_process import ServiceSpec
from services.local.settings import read_settings
from services.local.weaviate_build import ensure_server
from services.local.weaviate_server import ClusterPlan, node_variables, server_command
from services.shared.index.lance_index import LanceIndex
from services.shared.index.port import Index
from services.shared.index.weaviate_index import WeaviateIndex
from services.shared.index.weaviate_node import parse_nodes

EMBEDDED, SERVERS = "sqlite-lancedb", "postgres-weaviate"
PAIRS = (EMBEDDED, SERVERS)
# The shortest that the service takes: a killed worker's documents are waited for that long.
LEASE_S = 5.0
# Often, so that kills meet it as well.
_OPTIMIZE_EVERY_S = 10.0


@dataclass(frozen=True, slots=True)
class Pair:
    """The running processes of a pair, where calls go, and what a reader of its stores needs.

    `index_folder` is where the embedded index keeps its files, None where a server keeps them.
    """

    name: str
    processes: Mapping[Victim, Killable]
    ingest_target: str
    catalog_url: str
    blobs: Path
    index_folder: Path | None
    index_server: IndexServer | None

    async def open_index(self) -> Index:
        """The index as one more process."""
        if self.index_server is None:
            assert self.index_folder is not None, "an index is in a folder or on a server"
            return await LanceIndex.open(self.index_folder)
        return await WeaviateIndex.open(parse_nodes(self.index_server.nodes), api_key=self.index_server.api_key)


@contextmanager
def running_pair(name: str, data: Path, *, postgres_url: str | None = None) -> Iterator[Pair]:
    """The pair with all its data in `data`, its processes started, until the block ends.

    `postgres_url` names an empty database; without it a server is started for this run. Not to be entered inside an
    event loop. Raises Failure when a server cannot be had.
    """
    with ExitStack() as ending:
        catalog_url, engine, index_server = f"sqlite:///{data / 'catalog.db'}", None, None
        if name == SERVERS:
            catalog_url = postgres_url or ending.enter_context(running_server()).url
            server = ensure_server(read_settings().weaviate_folder)

            def program(cluster: ClusterPlan) -> tuple[tuple[str, ...], Mapping[str, str]]:
                return server_command(server, cluster.nodes[0]), node_variables(cluster, cluster.nodes[0])

            engine, index_server = weaviate_service(program, data)
        options = Options(data=data, model="hashing", otlp_port=0, index_server=index_server)
        ports = dict(zip(SERVICES, free_ports(len(SERVICES)), strict=True))
        knobs = environment(ports, options)
        embedding = Killable(_spec("embedding", ports, knobs["embedding"], data))
        told = knobs["ingest"] | {
            "PLUMBLINE_INGEST_CATALOG_URL": catalog_url,
            "PLUMBLINE_INGEST_LEASE_S": str(LEASE_S),
            "PLUMBLINE_INGEST_OPTIMIZE_EVERY_S": str(_OPTIMIZE_EVERY_S),
        }
        ingest = Killable(_spec("ingest", ports, told, data))
        processes = {Victim.WORKER: ingest, Victim.EMBEDDING: embedding}
        processes[Victim.INDEX] = Killable(engine) if engine else ingest
        for process in (processes[Victim.INDEX], embedding, ingest):
            ending.callback(process.stop)
        for process in dict.fromkeys((processes[Victim.INDEX], embedding, ingest)):
            process.start()
        yield Pair(
            name=name,
            processes=processes,
            ingest_target=f"{LOOPBACK}:{ports['ingest']}",
            catalog_url=catalog_url,
            blobs=data / "blobs",
            index_folder=None if index_server else data / "index",
            index_server=index_server,
        )


def _spec(name: str, ports: Mapping[str, int], told: Mapping[str, str], data: Path) -> ServiceSpec:
    """The service, without the peers that this run has not."""
    variables = {knob: value for knob, value in told.items() if not knob.endswith(("OTLP_ENDPOINT", "SEARCH_TARGET"))}
    ready = partial(is_serving, f"{LOOPBACK}:{ports[name]}")
    return ServiceSpec(name, ("-m", f"services.{name}"), variables, fresh_log(data, name), ready)
