"""Ingest processes share one job on PostgreSQL and Weaviate; one is killed, and the others take its items over."""

import asyncio
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import pytest
from sqlalchemy import select

from loadtests.ingest_faults.corpus import Put, changes_in, writes
from loadtests.ingest_faults.held import opened_stores
from loadtests.ingest_faults.killable import Killable
from loadtests.ingest_faults.writer import Writer
from services.local.loopback import free_ports
from services.local.readiness import is_serving
from services.local.service_process import ServiceSpec
from services.shared.catalog.database import Database
from services.shared.catalog.schema import work_items
from services.shared.index.weaviate_index import WeaviateIndex
from services.shared.index.weaviate_node import format_nodes
from services.shared.runtime.channel import open_channel
from tests.conftest import WeaviateAddress

pytestmark = [pytest.mark.postgres, pytest.mark.weaviate]

COLLECTION = "shared-job"
DOCUMENTS = 240


@dataclass(frozen=True, slots=True)
class Workers:
    """The ingest processes, and the address of the first of them."""

    processes: Sequence[Killable]
    target: str


@contextmanager
def running_workers(data: Path, catalog_url: str, weaviate: WeaviateAddress, *, count: int) -> Iterator[Workers]:
    """`count` ingest processes of one worker each over the same stores, and one embedding service."""
    embedding_port, *ports = free_ports(count + 1)
    stores = {
        "EMBEDDING_TARGET": f"127.0.0.1:{embedding_port}",
        "CATALOG_URL": catalog_url,
        "BLOBS_URL": str(data / "blobs"),
        "WEAVIATE_NODES": format_nodes(weaviate.nodes),
        **({"WEAVIATE_API_KEY": weaviate.api_key} if weaviate.api_key else {}),
    }
    # Small batches, so that a job has many; the shortest lease, so that its end is soon.
    knobs = {"WORKERS": "1", "BATCH_DOCUMENTS": "8", "LEASE_S": "5", "POLL_S": "0.05"}

    def service(name: str, port: int, **told: str) -> Killable:
        variables = {f"PLUMBLINE_{name.upper()}_{knob}": value for knob, value in (told | {"PORT": str(port)}).items()}
        log, ready = data / f"{name}-{port}.log", partial(is_serving, f"127.0.0.1:{port}")
        return Killable(ServiceSpec(name, ("-m", f"services.{name}"), variables, log, ready))

    embedding = service("embedding", embedding_port, MODEL="hashing")
    workers = [service("ingest", port, **stores, **knobs) for port in ports]
    with ExitStack() as ending:
        for process in (embedding, *workers):
            ending.callback(process.stop)
            process.start()
        yield Workers(workers, f"127.0.0.1:{ports[0]}")


@dataclass(frozen=True, slots=True)
class Lease:
    """An item under a lease, and the process that holds it."""

    item_id: int
    process_id: int


async def leases(database: Database) -> list[Lease]:
    """All leases of this moment."""
    query = select(work_items).where(work_items.c.state == "leased")
    async with database.read() as connection:
        rows = (await connection.execute(query)).all()
    return [Lease(row.id, int(row.lease_owner.split("-")[0])) for row in rows]


async def attempts(database: Database, item_ids: Sequence[int]) -> list[tuple[str, int]]:
    """How each of the items stands, and how many attempts it took."""
    query = select(work_items.c.state, work_items.c.attempts).where(work_items.c.id.in_(item_ids))
    async with database.read() as connection:
        return [(row.state, row.attempts) for row in await connection.execute(query)]


def test_two_workers_share_a_job_and_take_over_what_a_killed_third_held(
    tmp_path: Path, postgres_catalog_url: str, weaviate: WeaviateAddress
) -> None:
    with running_workers(tmp_path, postgres_catalog_url, weaviate, count=3) as workers:
        asyncio.run(_third_is_killed(workers, tmp_path, postgres_catalog_url, weaviate))


async def _third_is_killed(workers: Workers, data: Path, catalog_url: str, weaviate: WeaviateAddress) -> None:
    for process in workers.processes:
        await process.until_ready()
    third = workers.processes[-1]
    puts = [call for call in writes(DOCUMENTS, seed=1) if isinstance(call, Put)]
    one_job = Put(tuple({one.id: one for call in puts for one in call.documents}.values()))
    index = await WeaviateIndex.open(weaviate.nodes, api_key=weaviate.api_key)
    database, channel = Database.connect(catalog_url), open_channel(workers.target)
    writer = Writer(channel, COLLECTION)
    holders: set[int] = set()
    async with opened_stores(catalog_url, index, data / "blobs") as stores:
        await writer.create()
        await writer.write([one_job])
        held_by_third: list[Lease] = []
        while not held_by_third:
            now = await leases(database)
            holders |= {lease.process_id for lease in now}
            held_by_third = [lease for lease in now if lease.process_id == third.process_id]
        third.kill()

        # What it held when it died: it may have claimed more since the look above.
        left = [lease for lease in await leases(database) if lease.process_id == third.process_id]
        waiting = asyncio.ensure_future(stores.finished(COLLECTION, writer.jobs))
        while not waiting.done():
            holders |= {lease.process_id for lease in await leases(database)}
        [job] = waiting.result()

        assert holders == {process.process_id for process in workers.processes}
        assert (job.state, job.done, job.outcomes.failed) == ("succeeded", DOCUMENTS, 0)
        assert left, "the third held nothing when it was killed"
        ended = await attempts(database, [lease.item_id for lease in left])
        assert {state for state, _ in ended} == {"done"}
        assert min(count for _, count in ended) > 1
        held, contradictions = await stores.read(COLLECTION)
        assert contradictions == []
        assert len(held.documents) == changes_in([one_job]) == DOCUMENTS
        await writer.delete()
    await channel.close()
    await database.close()
    await index.close()
