"""Stores that disagree, as after a restore, over the real catalog, blobs, index and embedding service."""

import sqlite3
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest

from plumbline.ingest.v1 import ingest_pb2 as pb
from services.ingest.reconcile import Reconciliation, Report, Unmended
from services.ingest.settings import IngestSettings
from services.ingest.wiring import Stores, open_stores
from services.shared.index.chunk import IndexedChunk, StoredChunk
from services.shared.index.opening import open_index
from services.shared.runtime.errors import Conflict
from tests.component.ingest.conftest import TIMEOUT_S, command, running_ingest
from tests.conftest import WeaviateAddress
from tests.fakes.serving import RecordedTelemetry, recorded_telemetry

LONG = "\n\n".join(f"## Part {part}\n\nPart {part} tells of one thing only." for part in range(4))  # four chunks


@pytest.fixture(params=["lancedb", pytest.param("weaviate", marks=pytest.mark.weaviate)])
def engine(request: pytest.FixtureRequest) -> Mapping[str, str | None]:
    """The settings that name the index, where it is not the folder."""
    if request.param == "lancedb":
        return {}
    weaviate: WeaviateAddress = request.getfixturevalue("weaviate")
    nodes = ",".join(f"{node.host}:{node.http_port}:{node.grpc_port}" for node in weaviate.nodes)
    return {"index_folder": None, "weaviate_nodes": nodes, "weaviate_api_key": weaviate.api_key}


@pytest.fixture
async def settings(engine: Mapping[str, str | None], settings: IngestSettings) -> AsyncIterator[IngestSettings]:
    """Those of an ingest whose index nobody else uses; what it leaves there is dropped."""
    settings = IngestSettings(**(settings.model_dump() | engine))
    index = await open_index(settings)
    assert await index.generations() == [], "this index is in use; the tests need one of their own"
    yield settings
    for generation_id in await index.generations():
        await index.drop_generation(generation_id)
    await index.close()


@dataclass(frozen=True, slots=True)
class World:
    """The stores while ingest is stopped."""

    settings: IngestSettings
    stores: Stores
    telemetry: RecordedTelemetry

    async def put(self, *documents: pb.Document, deleted: Sequence[str] = ()) -> None:
        """Let ingest run until it has applied these documents and deletions."""
        async with running_ingest(self.settings) as stub:
            notes = pb.Collection(name="notes", profile="docs", locale="en", fields={"year": 2})
            await stub.CreateCollection(pb.CreateCollectionRequest(collection=notes), timeout=TIMEOUT_S)
            put = pb.PutDocumentsRequest(collection="notes", documents=documents)
            jobs = [(await stub.PutDocuments(put, timeout=TIMEOUT_S)).job_id] if documents else []
            if deleted:
                gone = pb.DeleteDocumentsRequest(collection="notes", document_ids=deleted)
                jobs.append((await stub.DeleteDocuments(gone, timeout=TIMEOUT_S)).job_id)
            for job_id in jobs:
                async for response in stub.WatchJob(pb.WatchJobRequest(job_id=job_id), timeout=TIMEOUT_S):
                    job = response.job
                assert (job.state, job.outcomes.failed) == (pb.JOB_STATE_SUCCEEDED, 0)

    async def reconcile(self, *, dry_run: bool = False) -> Report:
        stores = self.stores
        run = Reconciliation(
            stores.catalog, stores.blobs, stores.index, stores.writer, dry_run=dry_run, clock=time.time
        )
        return await run.run()

    async def generation_id(self) -> str:
        return (await self.stores.catalog.collections.get("notes")).active.id

    async def chunks(self) -> dict[str, StoredChunk]:
        """All chunks of the index by id, with their vectors."""
        generation_id, index = await self.generation_id(), self.stores.index
        ids = [key.chunk_id async for keys in index.scan(generation_id) for key in keys]
        return {chunk.chunk_id: chunk for chunk in await index.fetch(generation_id, ids, vectors=True)}

    def embedded(self) -> float:
        """Chunks that reconciling embedded so far."""
        return self.telemetry.sample("plumbline_ingest_chunks_embedded_total") or 0.0


@pytest.fixture
async def world(settings: IngestSettings) -> AsyncIterator[World]:
    """Three applied documents: `long` of four chunks, `short` and `other` of one."""
    telemetry = recorded_telemetry("reconcile")
    stores = await open_stores(settings, telemetry.telemetry)
    world = World(settings, stores, telemetry)
    await world.put(
        pb.Document(id="long", title="Long", markdown=LONG),
        pb.Document(id="short", title="Short", text="A short note."),
        pb.Document(id="other", title="Other", text="Another note."),
    )
    yield world
    for closable in stores.closables:
        await closable.close()


def as_indexed(chunk: StoredChunk, **changes: object) -> IndexedChunk:
    values = {name: getattr(chunk, name) for name in StoredChunk.__slots__}
    return IndexedChunk(**(values | changes))


def same(one: dict[str, StoredChunk], other: dict[str, StoredChunk]) -> bool:
    """Whether chunks are equal, their vectors too."""
    return one == other and all(np.allclose(one[id_].vectors, other[id_].vectors, atol=1e-6) for id_ in one)


async def test_stores_that_agree_are_left_as_they_are(world: World) -> None:
    before = await world.chunks()

    report = await world.reconcile()

    assert report.is_clean
    (generation,) = report.generations
    assert (generation.documents, generation.chunks, generation.mended_documents) == (3, 6, 0)
    assert same(await world.chunks(), before)


async def test_index_that_is_lost_is_made_anew_with_the_same_chunks(world: World) -> None:
    before = await world.chunks()
    await world.stores.index.drop_generation(await world.generation_id())

    (generation,) = (await world.reconcile()).generations

    assert (generation.missing_chunks, generation.mended_documents) == (6, 3)
    assert same(await world.chunks(), before)
    assert (await world.reconcile()).is_clean


async def test_missing_chunk_alone_is_embedded_and_written(world: World) -> None:
    before = await world.chunks()
    lost = next(chunk for chunk in before.values() if chunk.document_id == "long" and chunk.ordinal == 2)
    await world.stores.index.delete(await world.generation_id(), [lost.chunk_id])

    (generation,) = (await world.reconcile()).generations

    assert (generation.missing_chunks, generation.mended_documents, world.embedded()) == (1, 1, 1)
    assert same(await world.chunks(), before)
    assert (await world.reconcile()).is_clean


async def test_chunks_that_nobody_knows_are_deleted(world: World) -> None:
    before = await world.chunks()
    some = next(iter(before.values()))
    strangers = [
        as_indexed(some, chunk_id="11111111-1111-5111-8111-111111111111"),  # of a document that is there
        as_indexed(some, chunk_id="22222222-2222-5222-8222-222222222222", document_id="unknown"),
    ]
    await world.stores.index.upsert(await world.generation_id(), strangers)

    (generation,) = (await world.reconcile()).generations

    assert (generation.orphan_chunks, generation.mended_documents) == (2, 0)
    assert same(await world.chunks(), before)
    assert (await world.reconcile()).is_clean


async def test_chunks_of_another_revision_get_the_right_one_and_its_fields(world: World) -> None:
    before = await world.chunks()
    stale = [
        as_indexed(chunk, revision=chunk.revision + 7, title="Of the future")
        for chunk in before.values()
        if chunk.document_id == "long"
    ]
    await world.stores.index.upsert(await world.generation_id(), stale)

    (generation,) = (await world.reconcile()).generations

    assert (generation.stale_chunks, generation.mended_documents, world.embedded()) == (4, 1, 0)
    assert same(await world.chunks(), before)
    assert (await world.reconcile()).is_clean


async def test_dry_run_tells_the_same_and_changes_nothing(world: World) -> None:
    before = await world.chunks()
    lost = next(chunk for chunk in before.values() if chunk.document_id == "short")
    await world.stores.index.delete(await world.generation_id(), [lost.chunk_id])
    await world.stores.index.create_generation("forgotten", 4, {})

    dry = await world.reconcile(dry_run=True)

    assert (dry.generations[0].missing_chunks, dry.unknown_generations) == (1, ("forgotten",))
    assert await world.chunks() == {id_: chunk for id_, chunk in before.items() if id_ != lost.chunk_id}
    assert "forgotten" in await world.stores.index.generations()


async def test_dry_run_over_a_lost_index_counts_every_chunk(world: World) -> None:
    generation_id = await world.generation_id()
    await world.stores.index.drop_generation(generation_id)

    (generation,) = (await world.reconcile(dry_run=True)).generations

    assert generation.missing_chunks == 6
    assert await world.stores.index.generations() == []


async def test_index_of_a_generation_that_the_catalog_does_not_know_is_dropped(world: World) -> None:
    await world.stores.index.create_generation("forgotten", 4, {})

    assert (await world.reconcile()).unknown_generations == ("forgotten",)

    assert await world.stores.index.generations() == [await world.generation_id()]
    assert (await world.reconcile()).is_clean


async def test_missing_original_is_told_and_keeps_no_other_document_from_being_mended(world: World) -> None:
    catalog, index = world.stores.catalog, world.stores.index
    before = await world.chunks()
    revision = (await catalog.documents.get("notes", "short")).revision
    blob = (await catalog.documents.get("notes", "short")).content.blob
    (path,) = Path(world.settings.blobs_url).rglob(blob)
    path.unlink()
    await index.delete(await world.generation_id(), list(before))

    report = await world.reconcile()

    (original,) = report.missing_originals
    assert (original.document_id, original.revision, original.blob) == ("short", revision, blob)
    (generation,) = report.generations
    assert generation.unmended == [Unmended("short", "its original is missing; put the document again")]
    assert {chunk.document_id for chunk in (await world.chunks()).values()} == {"long", "other"}
    assert not report.is_mended


async def test_document_that_becomes_other_chunks_is_corrected_in_the_catalog(world: World) -> None:
    before, generation_id = await world.chunks(), await world.generation_id()
    held = await world.stores.catalog.inventory.holdings_of(generation_id, ["short"])
    await world.stores.catalog.inventory.correct(generation_id, held["short"], ["of-an-older-chunker"])

    (generation,) = (await world.reconcile()).generations

    assert (generation.missing_chunks, generation.mended_documents, generation.rechunked) == (1, 1, 1)
    assert same(await world.chunks(), before)
    assert (await world.reconcile()).is_clean


async def test_catalog_of_yesterday_brings_the_index_back_to_yesterday(world: World, tmp_path: Path) -> None:
    """What was put, replaced and deleted since the backup is as if it had never been."""
    before = await world.chunks()
    yesterday = tmp_path / "yesterday.db"
    with sqlite3.connect(tmp_path / "catalog.db") as source, sqlite3.connect(yesterday) as target:
        source.backup(target)
    await world.stores.catalog.close()
    await world.put(
        pb.Document(id="long", title="Long", markdown=LONG.replace("Part 2 tells", "Part 2 speaks")),
        pb.Document(id="new", title="New", text="Put after the backup."),
        deleted=["short"],
    )
    for leftover in tmp_path.glob("catalog.db*"):
        leftover.unlink()
    yesterday.rename(tmp_path / "catalog.db")
    restored = replace(world, stores=await open_stores(world.settings, recorded_telemetry("restored").telemetry))

    await restored.reconcile()

    assert same(await restored.chunks(), before)
    assert (await restored.reconcile()).is_clean
    for closable in restored.stores.closables:
        await closable.close()


async def test_ingest_at_work_is_refused(world: World) -> None:
    catalog = world.stores.catalog
    await catalog.jobs.accept(
        "notes",
        [replace((await catalog.documents.get("notes", "short")).content, title="Changed")],
        job_id="job",
        now=1.0,
    )
    await catalog.work.claim(owner="worker", now=time.time(), lease_s=60.0)

    with pytest.raises(Conflict, match="ingest applies 1 documents"):
        await world.reconcile()


async def test_empty_catalog_beside_a_full_index_is_refused(world: World) -> None:
    await world.stores.catalog.collections.delete("notes", now=1.0)

    with pytest.raises(Conflict, match="is this the right catalog"):
        await world.reconcile()


async def test_command_tells_what_differs_mends_it_and_then_finds_nothing(world: World) -> None:
    generation_id = await world.generation_id()
    chunks = (await world.chunks()).values()
    await world.stores.index.delete(generation_id, [chunk.chunk_id for chunk in chunks if chunk.document_id == "long"])
    held = f"collection notes, generation {generation_id}: 3 documents, 6 chunks"
    differs = f"{held}; chunks: 4 missing, 0 of another revision, 0 of no document"

    assert await command(world.settings, "reconcile", "--dry-run") == (1, [differs, "dry run: nothing was changed"])
    assert await command(world.settings, "reconcile") == (0, [f"{differs}; 1 documents mended", "done"])
    assert await command(world.settings, "reconcile") == (0, [held, "nothing differs"])


async def test_command_says_in_one_sentence_why_it_cannot_run_now(world: World) -> None:
    await world.stores.catalog.collections.delete("notes", now=1.0)

    assert await command(world.settings, "reconcile") == (3, [])
