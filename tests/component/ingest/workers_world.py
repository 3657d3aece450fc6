"""Workers and builders over real stores and the real pipeline; embedder, originals and clock are those of a test."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from prometheus_client import CollectorRegistry

from services.ingest.builder import Builder
from services.ingest.domain.blocks import Block, ParsedDocument
from services.ingest.generation_writer import GenerationWriter
from services.ingest.metrics import IngestMetrics
from services.ingest.pipeline import ApplyPipeline
from services.ingest.ports import Model
from services.ingest.worker import Worker
from services.shared.catalog.catalog import Catalog
from services.shared.catalog.documents import Put
from services.shared.index.chunk import IndexedChunk, Matrix
from services.shared.index.lance_index import LanceIndex
from tests.contract.catalog.examples import a_collection, a_page

LEASE_S = 3600.0


@dataclass(slots=True)
class Stop:
    """Where a worker stands still once: before the first text that holds `at`, until it is let go."""

    at: str = "never said"
    reached: asyncio.Event = field(default_factory=asyncio.Event)
    let_go: asyncio.Event = field(default_factory=asyncio.Event)

    async def before(self, texts: Sequence[str]) -> None:
        if any(self.at in text for text in texts):
            self.at = "never said"
            self.reached.set()
            await self.let_go.wait()


@dataclass(slots=True)
class Embedder:
    """Without a model."""

    stop: Stop = field(default_factory=Stop)

    async def model(self, name: str) -> Model:
        return Model("m", "5" * 64, 384, lambda texts: [len(text.split()) for text in texts])

    async def embed(self, texts: Sequence[str], *, model: str, dimensions: int) -> list[Matrix]:
        await self.stop.before(texts)
        return [np.eye(384, dtype=np.float32)[:1] for _ in texts]


class StoppingIndex(LanceIndex):
    """The embedded index, before whose writes a worker may stand still."""

    stop: Stop | None = None

    async def upsert(self, generation_id: str, chunks: Sequence[IndexedChunk]) -> None:
        if self.stop:
            await self.stop.before([chunk.text for chunk in chunks])
        await super().upsert(generation_id, chunks)


@dataclass(slots=True)
class Texts:
    """Originals by their digests."""

    of: dict[str, bytes] = field(default_factory=dict)

    def put(self, text: str, page_id: str = "page") -> Put:
        digest = f"{len(self.of):064x}"
        self.of[digest] = text.encode()
        return a_page(page_id, blob=digest, content_digest=digest)

    async def get(self, digest: str) -> bytes:
        return self.of[digest]


async def one_block_a_line(original: bytes, media_type: str) -> ParsedDocument:
    return ParsedDocument("", tuple(Block("paragraph", line) for line in original.decode().splitlines()))


@dataclass(slots=True)
class World:
    catalog: Catalog
    index: LanceIndex
    texts: Texts = field(default_factory=Texts)
    now: float = 100.0

    def writer(self, embedder: Embedder) -> tuple[GenerationWriter, IngestMetrics]:
        metrics = IngestMetrics(CollectorRegistry())
        return GenerationWriter(self.texts, one_block_a_line, embedder, self.index, metrics), metrics

    def worker(self, name: str, embedder: Embedder) -> Worker:
        writer, metrics = self.writer(embedder)
        pipeline = ApplyPipeline(self.catalog, writer, clock=lambda: self.now)
        return Worker(
            name, self.catalog, pipeline, metrics,
            batch_documents=8, max_bytes_each=10**9, lease_s=LEASE_S, poll_s=0.01, clock=lambda: self.now,
        )  # fmt: skip

    def builder(self, name: str, embedder: Embedder) -> Builder:
        writer, _ = self.writer(embedder)
        return Builder(
            name, self.catalog, writer,
            batch_documents=8, lease_s=LEASE_S, poll_s=0.01, clock=lambda: self.now,
        )  # fmt: skip

    async def nothing_waits(self) -> None:
        async with asyncio.timeout(30):
            while await self.catalog.work.waiting():
                await asyncio.sleep(0.01)

    async def texts_of(self, generation_id: str) -> list[str]:
        return [chunk.text for chunk in await self.index.document_chunks(generation_id, "page")]

    async def require_right_statistics(self, generation_id: str) -> None:
        """What the catalog counts is what a count over the chunks gives."""
        of_each = [await self.index.document_chunks(generation_id, id_) for id_ in ("page", "after")]
        chunks = [chunk for of_one in of_each for chunk in of_one]
        counted = Counter(token for chunk in chunks for token in set(chunk.analysed.split()))
        every_token = sorted({*counted, "w:first", "w:second", "w:third"})
        told = await self.catalog.terms.look_up(generation_id, every_token)
        assert told is not None
        assert (told.chunks, dict(told.frequencies)) == (len(chunks), dict(counted))
        assert told.tokens == sum(len(chunk.analysed.split()) for chunk in chunks)


@asynccontextmanager
async def opened_world(folder: Path, index_type: type[LanceIndex] = LanceIndex) -> AsyncIterator[World]:
    """The stores in `folder`, with the collection `pages` and its empty generation `g1`."""
    catalog = await Catalog.open(f"sqlite:///{folder}/catalog.db")
    await a_collection(catalog, "pages", generation_id="g1")
    index = await index_type.open(folder / "index")
    await index.create_generation("g1", 384, {})
    yield World(catalog, index)
    await index.close()
    await catalog.close()


@asynccontextmanager
async def at_work(*loops: Worker | Builder) -> AsyncIterator[None]:
    tasks = [asyncio.create_task(loop.run()) for loop in loops]
    try:
        yield
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
