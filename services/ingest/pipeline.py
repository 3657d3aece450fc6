"""Applying accepted changes: parse, chunk, keep what stands, embed what is missing, upsert, delete, commit.

A crash at any step and another attempt come to the same chunks: ids follow from the content, and what an index holds of
a document is asked of the index, not remembered.
"""

import asyncio
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

from services.ingest.domain.blocks import ParsedDocument
from services.ingest.domain.chunk_ids import chunk_ids
from services.ingest.domain.chunk_profile import chunk_profile
from services.ingest.domain.chunking import Chunk, split_into_chunks
from services.ingest.metrics import IngestMetrics
from services.ingest.ports import Embedder, Originals, Parse
from services.shared.catalog.acceptance import Outcome
from services.shared.catalog.catalog import Catalog
from services.shared.catalog.documents import Put
from services.shared.catalog.fields import MAX_TITLE_LENGTH
from services.shared.catalog.manifest import Generation
from services.shared.catalog.term_statistics import DocumentTerms
from services.shared.catalog.work_item import Action, WorkItem
from services.shared.index.chunk import IndexedChunk, Matrix, StoredChunk
from services.shared.index.port import Index
from services.shared.text.analyzer import analyze_document

_NOTHING = ParsedDocument("", ())


@dataclass(frozen=True, slots=True)
class Change:
    """A claimed item with what it puts; a deletion puts nothing."""

    item: WorkItem
    put: Put | None = None
    parsed: ParsedDocument = _NOTHING

    @property
    def title(self) -> str:
        """The title that the caller gave, else the content's own."""
        return (self.put.title if self.put else "") or self.parsed.title


@dataclass(frozen=True, slots=True)
class Target:
    """What one document is to be in one generation, beside what it is there now."""

    change: Change
    ids: tuple[str, ...]
    chunks: tuple[Chunk, ...]
    standing: dict[str, StoredChunk]

    @property
    def missing(self) -> list[tuple[str, Chunk]]:
        """The chunks that have no vectors yet."""
        return [(id_, chunk) for id_, chunk in zip(self.ids, self.chunks, strict=True) if id_ not in self.standing]

    @property
    def gone(self) -> list[str]:
        """Ids of chunks that the document no longer has."""
        return sorted(self.standing.keys() - set(self.ids))


@dataclass(slots=True)
class Applied:
    """What the indexes hold of a change, by generation; `embedded` when something of it had no vectors before."""

    change: Change
    chunk_ids: dict[str, tuple[str, ...]] = field(default_factory=dict)
    terms: dict[str, DocumentTerms] = field(default_factory=dict)
    embedded: bool = False


class ApplyPipeline:
    """Applies changes to every generation that is kept in step."""

    def __init__(
        self,
        catalog: Catalog,
        originals: Originals,
        parse: Parse,
        embedder: Embedder,
        index: Index,
        metrics: IngestMetrics,
        *,
        clock: Callable[[], float],
        on_change: Callable[[str], None],
    ) -> None:
        self._catalog = catalog
        self._originals = originals
        self._parse = parse
        self._embedder = embedder
        self._index = index
        self._metrics = metrics
        self._clock = clock
        self._on_change = on_change

    async def apply(self, items: Sequence[WorkItem]) -> list[Outcome]:
        """How each item ended; the items belong to one collection, no two to one document.

        Raises what a step raises; then any number of the items may be done, and the others are not.
        """
        changes = [await self._parsed(item) for item in items]
        applied = [Applied(change) for change in changes]
        for generation in await self._catalog.generations.live(items[0].collection):
            targets = [await self._target(change, generation) for change in changes]
            terms = await self._store(targets, generation)
            for one, target, terms_of_target in zip(applied, targets, terms, strict=True):
                one.chunk_ids[generation.id] = target.ids
                one.terms[generation.id] = terms_of_target
                one.embedded = one.embedded or bool(target.missing)
        return [await self._commit(one) for one in applied]

    async def _parsed(self, item: WorkItem) -> Change:
        if item.action is Action.DELETE:
            return Change(item)
        document = await self._catalog.documents.at_revision(item.collection, item.document_id, item.revision)
        put = document.content
        original = await self._originals.get(put.blob)
        with self._timed("parse"):
            parsed = await self._parse(original, put.media_type)
        # The title stands in the context of every chunk; one that is longer was no title.
        return Change(item, put, replace(parsed, title=parsed.title[:MAX_TITLE_LENGTH]))

    async def _target(self, change: Change, generation: Generation) -> Target:
        standing = await self._index.document_chunks(generation.id, change.item.document_id, vectors=True)
        chunks = await self._chunks(change, generation)
        ids = chunk_ids(change.item.document_id, chunks)
        return Target(change, tuple(ids), tuple(chunks), {chunk.chunk_id: chunk for chunk in standing})

    async def _chunks(self, change: Change, generation: Generation) -> list[Chunk]:
        if not change.parsed.blocks:
            return []
        manifest = generation.manifest
        model = await self._embedder.model(manifest.model)
        profile = chunk_profile(
            manifest.profile,
            target=manifest.chunk_target,
            overlap=manifest.chunk_overlap,
            minimum=manifest.chunk_minimum,
        )
        titled = replace(change.parsed, title=change.title)
        return await asyncio.to_thread(split_into_chunks, titled, profile, model.count_tokens)

    async def _store(self, targets: Sequence[Target], generation: Generation) -> list[DocumentTerms]:
        """Let the index hold the targets; the terms of each."""
        missing = [pair for target in targets for pair in target.missing]
        with self._timed("embed"):
            texts = [_embedded_text(chunk) for _, chunk in missing]
            vectors = await self._embedder.embed(texts, model=generation.manifest.model) if texts else []
        fresh = {id_: rows for (id_, _), rows in zip(missing, vectors, strict=True)}
        with self._timed("store"):
            # New and standing chunks get the new revision in one write, and only then do gone ones go: a search in
            # between finds both revisions and keeps the higher.
            rows_of = await asyncio.to_thread(lambda: [list(_rows(target, fresh)) for target in targets])
            terms = await self._counted(targets, rows_of, generation)
            rows = [row for rows_of_target in rows_of for row in rows_of_target]
            if rows:
                await self._index.upsert(generation.id, rows)
            if gone := [id_ for target in targets for id_ in target.gone]:
                await self._index.delete(generation.id, gone)
        self._on_change(generation.id)
        self._metrics.chunks_embedded.inc(len(fresh))
        self._metrics.chunks_reused.inc(len(rows) - len(fresh))
        return terms

    async def _counted(
        self, targets: Sequence[Target], rows: Sequence[Sequence[IndexedChunk]], generation: Generation
    ) -> list[DocumentTerms]:
        """The terms of each target, once the catalog keeps what it counts of those whose terms change.

        A document that is new to the index has nothing to be kept.
        """
        terms = [DocumentTerms.of(row.analysed for row in rows_of_target) for rows_of_target in rows]
        replaced = {}
        for target, terms_of_target in zip(targets, terms, strict=True):
            standing = DocumentTerms.of(chunk.analysed for chunk in target.standing.values())
            if target.standing and standing != terms_of_target:
                replaced[target.change.item] = standing
        if replaced:
            await self._catalog.work.begin_replacing(generation.id, replaced)
        return terms

    async def _commit(self, applied: Applied) -> Outcome:
        change = applied.change
        outcome = Outcome.DELETED if change.put is None else Outcome.EMBEDDED if applied.embedded else Outcome.REUSED
        with self._timed("commit"):
            await self._catalog.work.commit_applied(
                change.item,
                chunk_ids=applied.chunk_ids,
                outcome=outcome,
                now=self._clock(),
                own_title=change.parsed.title,
                terms=applied.terms,
            )
        return outcome

    @contextmanager
    def _timed(self, stage: str) -> Iterator[None]:
        started = time.perf_counter()
        yield
        self._metrics.stage_seconds.labels(stage).observe(time.perf_counter() - started)


def _embedded_text(chunk: Chunk) -> str:
    """Context and text, as the model reads them and as the analyzer does."""
    return f"{chunk.context}\n{chunk.text}" if chunk.context else chunk.text


def _rows(target: Target, fresh: dict[str, Matrix]) -> Iterator[IndexedChunk]:
    """The document's chunks as the index is to hold them, all of the new revision."""
    put = target.change.put
    if put is None:
        return
    for id_, chunk in zip(target.ids, target.chunks, strict=True):
        vectors = fresh.get(id_)
        if vectors is None:
            vectors = target.standing[id_].vectors
            assert vectors is not None, "chunks that stand were read with their vectors"
        yield IndexedChunk(
            chunk_id=id_,
            document_id=put.id,
            revision=target.change.item.revision,
            ordinal=chunk.ordinal,
            title=target.change.title,
            uri=put.uri or "",
            locale=put.locale,
            date=put.date or "",
            heading_path=chunk.heading_path,
            pages=chunk.pages,
            text=chunk.text,
            context=chunk.context,
            start=chunk.start,
            end=chunk.end,
            tokens=chunk.tokens,
            analysed=" ".join(analyze_document(_embedded_text(chunk), put.locale)),
            metadata=put.metadata,
            vectors=vectors,
        )
