"""Lets a generation hold documents: chunk, keep what stands, copy or embed what is missing, upsert, delete the rest.

What an index holds of a document is asked of the index, not remembered, and ids follow from the content: so a crash at
any step and another attempt come to the same chunks.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace

from services.ingest.domain.blocks import ParsedDocument
from services.ingest.domain.chunk_ids import chunk_ids
from services.ingest.domain.chunk_profile import chunk_profile
from services.ingest.domain.chunking import Chunk, split_into_chunks
from services.ingest.metrics import IngestMetrics
from services.ingest.ports import Embedder, Originals, Parse
from services.shared.catalog.documents import Put
from services.shared.catalog.fields import MAX_TITLE_LENGTH
from services.shared.catalog.manifest import Generation, Manifest
from services.shared.catalog.term_statistics import DocumentTerms
from services.shared.index.chunk import IndexedChunk, Matrix, StoredChunk
from services.shared.index.port import Index
from services.shared.text.analyzer import analyze_document

_NOTHING = ParsedDocument("", ())

BeforeWriting = Callable[[Mapping[str, DocumentTerms]], Awaitable[None]]
"""Told the terms of documents, by id, whose terms are about to change in the index; nothing is written if it raises."""


@dataclass(frozen=True, slots=True)
class Revision:
    """A revision of a document that is to be held; a deletion puts nothing."""

    document_id: str
    number: int
    put: Put | None = None
    parsed: ParsedDocument = _NOTHING

    @property
    def title(self) -> str:
        """The title that the caller gave, else the content's own."""
        return (self.put.title if self.put else "") or self.parsed.title


@dataclass(frozen=True, slots=True)
class Held:
    """What a generation holds of a document now; `embedded` when something of it had no vectors anywhere."""

    chunk_ids: tuple[str, ...]
    terms: DocumentTerms
    embedded: bool


@dataclass(frozen=True, slots=True)
class _Target:
    """What one document is to be in one generation, beside what it is there now."""

    revision: Revision
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


class GenerationWriter:
    """Writes revisions of documents into generations, and nothing into the catalog."""

    def __init__(
        self,
        originals: Originals,
        parse: Parse,
        embedder: Embedder,
        index: Index,
        metrics: IngestMetrics,
    ) -> None:
        self._originals = originals
        self._parse = parse
        self._embedder = embedder
        self._index = index
        self._metrics = metrics

    async def read(self, document_id: str, number: int, put: Put) -> Revision:
        """The revision with its content parsed. Raises InvalidInput with a sentence for the user when it cannot be."""
        original = await self._originals.get(put.blob)
        with self.timed("parse"):
            parsed = await self._parse(original, put.media_type)
        # The title stands in the context of every chunk; one that is longer was no title.
        return Revision(document_id, number, put, replace(parsed, title=parsed.title[:MAX_TITLE_LENGTH]))

    async def write(
        self,
        revisions: Sequence[Revision],
        generation: Generation,
        *,
        before_writing: BeforeWriting | None = None,
        like: Generation | None = None,
        cut_off: Mapping[str, Collection[str]] | None = None,
    ) -> list[Held]:
        """What the generation holds of each revision, no two of one document, once it does.

        Vectors of chunks that `like`, of the same model, holds are copied from it: equal ids have equal embedded text.
        `cut_off` has the documents of which an attempt was cut off, by id, and the ids of the chunks that the catalog
        says are held of them: any other may be half-written, and these half-deleted.
        """
        ids = [revision.document_id for revision in revisions]
        standing = await self._index.chunks_of(generation.id, ids, vectors=True)
        targets = await self._targets(revisions, generation, standing)
        copied = await self._copied(targets, like) if like and _same_model(like, generation) else {}
        missing = [(id_, chunk) for target in targets for id_, chunk in target.missing if id_ not in copied]
        with self.timed("embed"):
            texts = [_embedded_text(chunk) for _, chunk in missing]
            vectors = await self._embedded(texts, generation.manifest) if texts else []
        embedded = {id_: rows for (id_, _), rows in zip(missing, vectors, strict=True)}
        with self.timed("store"):
            rows = await asyncio.to_thread(lambda: [list(_rows(target, copied | embedded)) for target in targets])
            terms = [DocumentTerms.of(row.analysed for row in of_target) for of_target in rows]
            if before_writing:
                await before_writing(_replaced(targets, terms))
            # New and standing chunks get the new revision in one write, and only then do gone ones go: a search in
            # between finds both revisions and keeps the higher.
            half_written, half_deleted = _halves(targets, cut_off or {})
            if half_written:
                await self._index.forget_interrupted(generation.id, half_written)
            if flat := [row for of_target in rows for row in of_target]:
                await self._index.upsert(generation.id, flat)
            if gone := [id_ for target in targets for id_ in target.gone]:
                await self._index.delete(generation.id, gone)
            if half_deleted:
                await self._index.forget_interrupted(generation.id, half_deleted)
        self._metrics.chunks_embedded.inc(len(embedded))
        self._metrics.chunks_reused.inc(len(flat) - len(embedded))
        return [
            Held(target.ids, of_target, embedded=any(id_ in embedded for id_ in target.ids))
            for target, of_target in zip(targets, terms, strict=True)
        ]

    async def _embedded(self, texts: Sequence[str], manifest: Manifest) -> list[Matrix]:
        return await self._embedder.embed(texts, model=manifest.model, dimensions=manifest.dimensions)

    @contextmanager
    def timed(self, stage: str) -> Iterator[None]:
        """Observe the time of a stage that ends well."""
        started = time.perf_counter()
        yield
        self._metrics.stage_seconds.labels(stage).observe(time.perf_counter() - started)

    async def _targets(
        self, revisions: Sequence[Revision], generation: Generation, standing: Mapping[str, Sequence[StoredChunk]]
    ) -> list[_Target]:
        split = await self._splitter(generation) if any(one.parsed.blocks for one in revisions) else _no_chunks

        def all_targets() -> list[_Target]:
            return [_target(one, split(one), standing[one.document_id]) for one in revisions]

        return await asyncio.to_thread(all_targets)

    async def _splitter(self, generation: Generation) -> Callable[[Revision], list[Chunk]]:
        manifest = generation.manifest
        count_tokens = (await self._embedder.model(manifest.model)).count_tokens
        profile = chunk_profile(
            manifest.profile,
            target=manifest.chunk_target,
            overlap=manifest.chunk_overlap,
            minimum=manifest.chunk_minimum,
        )
        return lambda one: split_into_chunks(replace(one.parsed, title=one.title), profile, count_tokens)

    async def _copied(self, targets: Sequence[_Target], like: Generation) -> dict[str, Matrix]:
        wanted = [id_ for target in targets for id_, _ in target.missing]
        chunks = await self._index.fetch(like.id, wanted, vectors=True) if wanted else []
        return {chunk.chunk_id: chunk.vectors for chunk in chunks if chunk.vectors is not None}


def _no_chunks(_: Revision) -> list[Chunk]:
    """Of revisions without text: the model need not be asked for its tokenizer."""
    return []


def _target(revision: Revision, chunks: Sequence[Chunk], standing: Sequence[StoredChunk]) -> _Target:
    ids = chunk_ids(revision.document_id, chunks)
    return _Target(revision, tuple(ids), tuple(chunks), {chunk.chunk_id: chunk for chunk in standing})


def _same_model(one: Generation, other: Generation) -> bool:
    """Whether equal texts have equal vectors in both."""
    return (one.manifest.weights_sha256, one.manifest.dimensions) == (
        other.manifest.weights_sha256,
        other.manifest.dimensions,
    )


def _halves(targets: Sequence[_Target], cut_off: Mapping[str, Collection[str]]) -> tuple[list[str], list[str]]:
    """The ids of chunks that an attempt which was cut off may have half-written, and may have half-deleted."""
    written: list[str] = []
    deleted: list[str] = []
    for target in targets:
        if (held := cut_off.get(target.revision.document_id)) is not None:
            written += [id_ for id_ in target.ids if id_ not in held]
            deleted += [id_ for id_ in held if id_ not in target.ids]
    return written, deleted


def _replaced(targets: Sequence[_Target], terms: Sequence[DocumentTerms]) -> dict[str, DocumentTerms]:
    """The terms that stand now of the documents whose terms change; one that is new to the index has none."""
    replaced = {}
    for target, terms_of_target in zip(targets, terms, strict=True):
        standing = DocumentTerms.of(chunk.analysed for chunk in target.standing.values())
        if target.standing and standing != terms_of_target:
            replaced[target.revision.document_id] = standing
    return replaced


def _embedded_text(chunk: Chunk) -> str:
    """Context and text, as the model reads them and as the analyzer does."""
    return f"{chunk.context}\n{chunk.text}" if chunk.context else chunk.text


def _rows(target: _Target, fresh: Mapping[str, Matrix]) -> Iterator[IndexedChunk]:
    """The document's chunks as the index is to hold them, all of the new revision."""
    revision, put = target.revision, target.revision.put
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
            revision=revision.number,
            ordinal=chunk.ordinal,
            title=revision.title,
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
