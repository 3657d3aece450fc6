"""What `make faults-ingest` looks for is found: in real stores, after a real ingest, one thing at a time."""

from collections.abc import AsyncIterator
from dataclasses import fields, replace
from pathlib import Path

import pytest

from loadtests.ingest_faults.held import Held, Stores, differences, opened_stores
from plumbline.ingest.v1 import ingest_pb2 as pb
from services.ingest.settings import IngestSettings
from services.shared.index.chunk import IndexedChunk, StoredChunk
from tests.component.ingest.conftest import Ingest, embedding_target, ingest, settings

__all__ = ["embedding_target", "ingest", "settings"]


@pytest.fixture
async def stores(ingest: Ingest, settings: IngestSettings, tmp_path: Path) -> AsyncIterator[Stores]:
    """Those of a collection of two documents with a chunk each."""
    await ingest.put(pb.Document(id="a", text="Herons stand."), pb.Document(id="b", text="Storks stand."))
    async with opened_stores(settings.catalog_url.get_secret_value(), ingest.index, tmp_path / "blobs") as opened:
        yield opened


async def chunk_of_a(ingest: Ingest) -> tuple[str, StoredChunk]:
    """The generation, and the chunk of the first document with its vectors."""
    generation_id = (await ingest.catalog.collections.get("notes")).active.id
    (chunk,) = await ingest.index.document_chunks(generation_id, "a", vectors=True)
    return generation_id, chunk


def as_indexed(chunk: StoredChunk, **changes: object) -> IndexedChunk:
    stored = {one.name: getattr(chunk, one.name) for one in fields(chunk)}
    return IndexedChunk(**(stored | changes))


async def test_what_a_whole_ingest_leaves_contradicts_nothing_and_has_one_digest(stores: Stores) -> None:
    held, contradictions = await stores.read("notes")

    assert (list(held.documents), held.chunks, contradictions) == (["a", "b"], 2, [])
    assert (await stores.read("notes"))[0] == held


async def test_a_chunk_that_is_gone_is_missed(stores: Stores, ingest: Ingest) -> None:
    before, _ = await stores.read("notes")
    generation_id, chunk = await chunk_of_a(ingest)
    await ingest.index.delete(generation_id, [chunk.chunk_id])

    held, contradictions = await stores.read("notes")

    assert "1 chunks that the catalog names are not in the index" in contradictions
    assert list(differences(held, before)) == ["the digest of the content is another one"]


async def test_a_chunk_of_no_document_is_found(stores: Stores, ingest: Ingest) -> None:
    generation_id, chunk = await chunk_of_a(ingest)
    await ingest.index.upsert(generation_id, [as_indexed(chunk, chunk_id="0" * 8 + chunk.chunk_id[8:])])

    _, contradictions = await stores.read("notes")

    assert contradictions == ["1 chunks in the index belong to no document, or are there twice"]


async def test_a_chunk_of_an_old_revision_is_found(stores: Stores, ingest: Ingest) -> None:
    generation_id, chunk = await chunk_of_a(ingest)
    await ingest.index.upsert(generation_id, [as_indexed(chunk, revision=0)])

    _, contradictions = await stores.read("notes")

    assert contradictions == ["1 chunks have another revision than their document"]


async def test_a_lost_original_is_found(stores: Stores, tmp_path: Path, ingest: Ingest) -> None:
    blob = (await ingest.catalog.documents.get("notes", "b")).content.blob
    (tmp_path / "blobs" / blob[:2] / blob[2:4] / blob).unlink()

    _, contradictions = await stores.read("notes")

    assert contradictions == ["1 originals are lost or damaged"]


def test_every_difference_between_two_runs_is_told() -> None:
    undisturbed = Held({"a": ("1",), "b": ("2",), "c": ("3",)}, "digest")

    assert list(differences(undisturbed, undisturbed)) == []
    assert list(differences(replace(undisturbed, documents={"a": ("1",), "b": ("9",), "d": ("4",)}), undisturbed)) == [
        "1 documents are lost, c among them",
        "1 documents are there that were deleted, d among them",
        "1 documents have other chunks, b among them",
    ]
    assert list(differences(replace(undisturbed, digest="other"), undisturbed)) == [
        "the digest of the content is another one"
    ]
