"""Workers side by side on a real catalog: who applies what, and who waits for whom."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import cast

import pytest
from prometheus_client import CollectorRegistry

from services.ingest.metrics import IngestMetrics
from services.ingest.pipeline import ApplyPipeline
from services.ingest.worker import SMALL_BYTES, Worker
from services.shared.catalog.acceptance import Outcome
from services.shared.catalog.catalog import Catalog
from services.shared.catalog.work_item import WorkItem
from services.shared.runtime.errors import Conflict
from tests.contract.catalog.examples import a_collection, a_page

LARGE_BYTES = 10_000_000


class FakePipeline:
    """Commits what it is given; an item whose document's name begins with "large" only once it is let go."""

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog
        self.batches: list[list[str]] = []
        self.large_began = asyncio.Event()
        self.let_go = asyncio.Event()

    async def apply(self, items: Sequence[WorkItem], *, cut_off: bool = False) -> list[Outcome]:
        self.batches.append([item.document_id for item in items])
        if any(item.document_id.startswith("large") for item in items):
            self.large_began.set()
            await self.let_go.wait()
        for item in items:
            live = await self._catalog.generations.live(item.collection)
            await self._catalog.work.commit_applied(
                item, chunk_ids={one.id: ["c"] for one in live}, outcome=Outcome.EMBEDDED, now=2.0
            )
        return [Outcome.EMBEDDED for _ in items]


@pytest.fixture
async def catalog(tmp_path: Path) -> AsyncIterator[Catalog]:
    opened = await Catalog.open(f"sqlite:///{tmp_path}/catalog.db")
    for name in ("books", "notes"):
        await a_collection(opened, name, generation_id=f"g-{name}")
    yield opened
    await opened.close()


@asynccontextmanager
async def working(catalog: Catalog, pipeline: FakePipeline, *max_bytes_each: int) -> AsyncIterator[None]:
    metrics = IngestMetrics(CollectorRegistry())
    workers = [
        Worker(
            f"w{number}",
            catalog,
            cast(ApplyPipeline, pipeline),
            metrics,
            batch_documents=32,
            max_bytes_each=each,
            lease_s=3600,
            poll_s=0.05,
            clock=lambda: 1.0,
        )
        for number, each in enumerate(max_bytes_each)
    ]
    tasks = [asyncio.create_task(worker.run()) for worker in workers]
    try:
        yield
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def ended(catalog: Catalog, job_id: str) -> None:
    async with asyncio.timeout(30):
        while (await catalog.jobs.get(job_id)).state != "succeeded":
            await asyncio.sleep(0.01)


async def test_a_small_document_is_applied_while_any_number_of_large_ones_take_their_time(catalog: Catalog) -> None:
    pipeline = FakePipeline(catalog)
    books = [a_page(f"large{n}", size=LARGE_BYTES) for n in range(32)]
    async with working(catalog, pipeline, LARGE_BYTES, SMALL_BYTES):
        await catalog.jobs.accept("books", books, job_id="books", now=0.0)
        await pipeline.large_began.wait()
        await catalog.jobs.accept("notes", [a_page("small", size=100)], job_id="notes", now=0.0)
        await ended(catalog, "notes")
        assert (await catalog.jobs.get("books")).done == 0
        pipeline.let_go.set()
        await ended(catalog, "books")


async def test_a_batch_holds_about_a_megabyte_or_one_document(catalog: Catalog) -> None:
    pipeline = FakePipeline(catalog)
    pipeline.let_go.set()
    sizes = {"a": 600_000, "b": 600_000, "large": LARGE_BYTES, "c": 100, "d": 100}
    pages = [a_page(name, size=size) for name, size in sizes.items()]
    await catalog.jobs.accept("books", pages, job_id="books", now=0.0)
    async with working(catalog, pipeline, LARGE_BYTES):
        await ended(catalog, "books")
    assert pipeline.batches == [["a"], ["b"], ["large"], ["c", "d"]]


class LosesTheFirstOfABatch(FakePipeline):
    """In the middle of a batch its first item is taken away; there is no more of it today."""

    async def apply(self, items: Sequence[WorkItem], *, cut_off: bool = False) -> list[Outcome]:
        if len(items) == 1:
            return await super().apply(items)
        self.batches.append([item.document_id for item in items])
        await self._catalog.work.fail(items[0], reason="taken away", now=1.0, retry_at=1e9)
        raise Conflict("a lease on one of 2 documents is lost")


async def test_what_was_lost_of_a_batch_is_not_tried_again_and_the_rest_is(catalog: Catalog) -> None:
    pipeline = LosesTheFirstOfABatch(catalog)
    await catalog.jobs.accept("books", [a_page("lost"), a_page("held")], job_id="books", now=0.0)
    async with working(catalog, pipeline, LARGE_BYTES), asyncio.timeout(30):
        while (await catalog.jobs.get("books")).done < 1:
            await asyncio.sleep(0.01)
    assert pipeline.batches == [["lost", "held"], ["held"]]
    assert await catalog.generations.applied("g-books", "lost") is None
