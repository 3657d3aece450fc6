"""Term statistics after real changes, of attempts that died on the way too: what a fresh count of the index gives."""

from collections.abc import AsyncIterator, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pytest
from prometheus_client import CollectorRegistry

from services.ingest.domain.blocks import Block, ParsedDocument
from services.ingest.generation_writer import GenerationWriter
from services.ingest.metrics import IngestMetrics
from services.ingest.pipeline import ApplyPipeline
from services.ingest.ports import Model
from services.shared.catalog.catalog import Catalog
from services.shared.catalog.documents import Delete, Put
from services.shared.catalog.term_statistics import DocumentTerms, TermStatistics
from services.shared.index.chunk import IndexedChunk, Matrix
from services.shared.index.lance_index import LanceIndex
from services.shared.runtime.errors import NotFound
from services.shared.text.analyzer import analyze_document
from tests.contract.catalog.examples import a_collection, a_page, accept, claim

STEPS = ("nothing", "begun", "upserted", "deleted")


class Died(Exception):
    """The process ended."""


class DyingIndex(LanceIndex):
    """The embedded index; with `dies_after` set, the process ends there."""

    dies_after = ""

    async def upsert(self, generation_id: str, chunks: Sequence[IndexedChunk]) -> None:
        self._step("begun")
        await super().upsert(generation_id, chunks)
        self._step("upserted")

    async def delete(self, generation_id: str, chunk_ids: Iterable[str]) -> None:
        await super().delete(generation_id, chunk_ids)
        self._step("deleted")

    def _step(self, step: str) -> None:
        if step == self.dies_after:
            raise Died


class OneWordOnePiece:
    """An embedder without a model."""

    async def model(self, name: str) -> Model:
        return Model("m", "5" * 64, 384, lambda texts: [len(text.split()) for text in texts])

    async def embed(self, texts: Sequence[str], *, model: str, dimensions: int) -> list[Matrix]:
        return [np.eye(384, dtype=np.float32)[:1] for _ in texts]


class Texts:
    """Originals by their digests."""

    def __init__(self) -> None:
        self.of: dict[str, bytes] = {}

    async def get(self, digest: str) -> bytes:
        if digest not in self.of:
            raise NotFound("no such blob")
        return self.of[digest]


async def one_block_a_line(original: bytes, media_type: str) -> ParsedDocument:
    lines = original.decode().splitlines()
    return ParsedDocument("", tuple(Block("paragraph", line) for line in lines))


@dataclass
class Writing:
    """Ingest's pipeline over real stores, and what is put through it."""

    catalog: Catalog
    index: DyingIndex
    texts: Texts
    pipeline: ApplyPipeline
    now: float = field(default=100.0)

    async def change(self, change: Put | Delete, *, dies_after: str = "nothing") -> None:
        """Apply the change, at the second attempt when the first one dies."""
        await accept(self.catalog, change, job_id=f"job at {self.now}")
        self.index.dies_after = dies_after
        try:
            await self._attempt()
        except Died:
            self.index.dies_after = "nothing"
            await self._attempt()

    async def _attempt(self) -> None:
        self.now += 100  # the lease of an attempt that died has run out
        await self.pipeline.apply(await claim(self.catalog, now=self.now))

    async def put(self, text: str, *, dies_after: str = "nothing", **changes: object) -> None:
        digest = f"{len(self.texts.of):064x}"
        self.texts.of[digest] = text.encode()
        await self.change(a_page(blob=digest, content_digest=digest, **changes), dies_after=dies_after)

    async def fresh_count(self) -> TermStatistics:
        chunks = await self.index.document_chunks("g1", "page")
        terms = DocumentTerms.of(chunk.analysed for chunk in chunks)
        return TermStatistics(len(chunks), terms.tokens, dict(terms.frequencies))

    async def statistics(self) -> TermStatistics | None:
        every_token = {token for locale in ("en", "tr") for token in analyze_document(WORDS, locale)}
        return await self.catalog.terms.look_up("g1", sorted(every_token))


WORDS = "one two three four a kind page pages renamed"
# Two chunks of 300 pieces each; the second document replaces the first of them.
FIRST = "one two two " * 100 + "\n" + "three a kind " * 100
SECOND = "one two four " * 100 + "\n" + "three a kind " * 100


@pytest.fixture
async def writing(tmp_path: Path) -> AsyncIterator[Writing]:
    catalog = await Catalog.open(f"sqlite:///{tmp_path}/catalog.db")
    await a_collection(catalog, "pages", generation_id="g1")
    index = await DyingIndex.open(tmp_path / "index")
    await index.create_generation("g1", 384, {})
    texts = Texts()
    metrics = IngestMetrics(CollectorRegistry())
    writer = GenerationWriter(texts, one_block_a_line, OneWordOnePiece(), index, metrics)
    pipeline = ApplyPipeline(catalog, writer, clock=lambda: 1.0)
    yield Writing(catalog, index, texts, pipeline)
    await index.close()
    await catalog.close()


@pytest.mark.parametrize("step", STEPS)
async def test_a_new_document_is_counted_once(writing: Writing, step: str) -> None:
    await writing.put(FIRST, dies_after=step)

    statistics = await writing.statistics()
    assert statistics == await writing.fresh_count()
    assert statistics is not None
    assert (statistics.chunks, statistics.frequencies["w:two"], statistics.frequencies["w:page"]) == (2, 1, 2)


@pytest.mark.parametrize("step", STEPS)
async def test_a_replaced_document_counts_as_it_is_now(writing: Writing, step: str) -> None:
    await writing.put(FIRST)
    await writing.put(SECOND, dies_after=step)

    assert (await writing.fresh_count()).frequencies["w:four"] == 1
    assert await writing.statistics() == await writing.fresh_count()


@pytest.mark.parametrize("step", STEPS)
async def test_a_deleted_document_counts_nothing(writing: Writing, step: str) -> None:
    await writing.put(FIRST)
    await writing.change(Delete("page"), dies_after=step)

    assert await writing.statistics() == TermStatistics(0, 0, {})


@pytest.mark.parametrize("step", STEPS)
async def test_a_new_title_is_counted_in_every_chunk(writing: Writing, step: str) -> None:
    await writing.put(FIRST)
    await writing.put(FIRST, title="Renamed", dies_after=step)

    statistics = await writing.statistics()
    assert statistics == await writing.fresh_count()
    assert statistics is not None
    assert statistics.frequencies["w:renamed"] == statistics.chunks


async def test_another_language_changes_stems_though_chunks_keep_their_ids(writing: Writing) -> None:
    await writing.put("page pages")
    before = await writing.index.document_chunks("g1", "page")
    await writing.put("page pages", locale="tr")

    after = await writing.index.document_chunks("g1", "page")
    assert [chunk.chunk_id for chunk in after] == [chunk.chunk_id for chunk in before]
    assert after[0].analysed != before[0].analysed
    assert await writing.statistics() == await writing.fresh_count()
