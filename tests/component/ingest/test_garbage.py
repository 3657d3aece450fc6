"""Garbage over a real catalog and real folders: what is named stays, what is not goes in its time."""

import time
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from services.ingest.garbage import Collected, Garbage
from services.shared.blobs.blob_store import BlobStore
from services.shared.catalog.catalog import Catalog
from services.shared.catalog.documents import Delete
from services.shared.index.lance_index import LanceIndex
from services.shared.runtime.errors import NotFound
from tests.contract.catalog.examples import MANIFEST, a_collection, a_page, accept, apply_all, claim

KEEP_S = 7_200.0


class Stores:
    """A catalog with the collection `pages`, blobs, and a clock that runs ahead of the real one by `ahead_s`."""

    def __init__(self, catalog: Catalog, blobs: BlobStore, index: LanceIndex) -> None:
        self.catalog, self.blobs, self.index, self.ahead_s = catalog, blobs, index, 0.0
        self.garbage = Garbage(catalog, blobs, index, keep_s=KEEP_S, clock=lambda: time.time() + self.ahead_s)

    async def put(self, page: str, content: str) -> str:
        digest = await self.blobs.put(content.encode())
        await accept(self.catalog, a_page(page, blob=digest, content_digest=digest), job_id=f"{page}-{digest}")
        return digest


@pytest.fixture
async def stores(tmp_path: Path) -> AsyncIterator[Stores]:
    catalog = await Catalog.open(f"sqlite:///{tmp_path}/catalog.db")
    await a_collection(catalog, "pages", generation_id="g1")
    index = await LanceIndex.open(tmp_path / "index")
    await index.create_generation("g1", 4, {})
    yield Stores(catalog, BlobStore(str(tmp_path / "blobs"), max_bytes=1_000), index)
    await index.close()
    await catalog.close()


async def test_originals_of_waiting_and_applied_documents_stay(stores: Stores) -> None:
    applied = await stores.put("applied", "one")
    await apply_all(stores.catalog)
    waiting = await stores.put("waiting", "two")
    stores.ahead_s = 3 * KEEP_S

    assert await stores.garbage.collect() == Collected(0, 0, 0)

    assert await stores.blobs.get(applied) == b"one"
    assert await stores.blobs.get(waiting) == b"two"


async def test_original_of_a_replaced_document_goes_in_two_steps(stores: Stores) -> None:
    old = await stores.put("page", "one")
    await apply_all(stores.catalog)
    new = await stores.put("page", "two")
    await apply_all(stores.catalog)

    assert await stores.garbage.collect() == Collected(0, 0, 0)
    stores.ahead_s = KEEP_S + 60
    assert await stores.garbage.collect() == Collected(1, 0, 0)
    stores.ahead_s = 2 * KEEP_S + 120
    assert await stores.garbage.collect() == Collected(0, 0, 1)

    with pytest.raises(NotFound):
        await stores.blobs.get(old)
    assert await stores.blobs.get(new) == b"two"


async def test_replacement_that_can_still_be_cancelled_keeps_what_it_replaces(stores: Stores) -> None:
    old = await stores.put("page", "one")
    await apply_all(stores.catalog)
    new = await stores.put("page", "two")
    stores.ahead_s = 3 * KEEP_S
    await stores.garbage.collect()

    await stores.catalog.jobs.cancel(f"page-{new}", now=50.0)

    assert (await stores.catalog.documents.get("pages", "page")).content.blob == old
    assert await stores.blobs.get(old) == b"one"


async def test_replacement_that_failed_keeps_what_it_was_to_replace(stores: Stores) -> None:
    old = await stores.put("page", "one")
    await apply_all(stores.catalog)
    await stores.put("page", "two")
    (item,) = await claim(stores.catalog)
    await stores.catalog.work.fail(item, reason="no text", now=20.0, retry_at=None)
    stores.ahead_s = 3 * KEEP_S

    await stores.garbage.collect()

    assert (await stores.catalog.documents.get("pages", "page")).content.blob == old
    assert await stores.blobs.get(old) == b"one"


async def test_deleted_document_takes_its_original_with_it(stores: Stores) -> None:
    await stores.put("page", "one")
    await apply_all(stores.catalog)
    await accept(stores.catalog, Delete("page"), job_id="gone")
    await apply_all(stores.catalog)
    stores.ahead_s = KEEP_S + 60

    assert await stores.garbage.collect() == Collected(1, 0, 0)


async def test_original_that_is_named_after_it_was_set_aside_is_put_back(stores: Stores) -> None:
    digest = await stores.blobs.put(b"one")
    stores.ahead_s = KEEP_S + 60
    assert await stores.garbage.collect() == Collected(1, 0, 0)

    await accept(stores.catalog, a_page(blob=digest, content_digest=digest))  # its upload was that slow

    assert await stores.garbage.collect() == Collected(0, 1, 0)
    assert await stores.blobs.digests(digest[:2]) == [digest]


async def test_work_goes_on_when_it_needs_what_was_just_set_aside(stores: Stores) -> None:
    digest = await stores.blobs.put(b"one")
    stores.ahead_s = KEEP_S + 60
    await stores.garbage.collect()

    assert await stores.blobs.get(digest) == b"one"


async def promoted(stores: Stores, generation_id: str) -> None:
    await stores.index.create_generation(generation_id, 4, {})
    await stores.catalog.builds.start(
        "pages", generation_id=generation_id, manifest=MANIFEST, job_id=generation_id, now=float(generation_id[1:])
    )
    await stores.catalog.generations.promote("pages", generation_id)


async def test_generation_before_the_previous_goes_in_the_second_round(stores: Stores) -> None:
    await promoted(stores, "g2")
    await promoted(stores, "g3")

    assert (await stores.garbage.collect()).generations == 0
    assert (await stores.garbage.collect()).generations == 1

    assert await stores.index.generations() == ["g2", "g3"]
    assert [generation.id for generation in await stores.catalog.generations.list("pages")] == ["g3", "g2"]


async def test_generation_kept_for_rollback_stays(stores: Stores) -> None:
    await promoted(stores, "g2")

    assert [(await stores.garbage.collect()).generations for _ in range(3)] == [0, 0, 0]

    assert await stores.index.generations() == ["g1", "g2"]


async def test_index_that_no_generation_names_goes_in_the_second_round(stores: Stores) -> None:
    await stores.index.create_generation("orphan", 4, {})

    assert [(await stores.garbage.collect()).generations for _ in range(2)] == [0, 1]

    assert await stores.index.generations() == ["g1"]


async def test_index_that_gets_its_generation_between_two_rounds_stays(stores: Stores) -> None:
    await stores.index.create_generation("g2", 4, {})
    await stores.garbage.collect()
    await promoted(stores, "g2")

    assert (await stores.garbage.collect()).generations == 0
