"""What catalog, index and originals hold of a collection in the end, and where they contradict each other."""

import asyncio
import hashlib
import json
from collections import Counter
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from sqlalchemy import func, select

from services.shared.blobs.blob_store import BlobStore
from services.shared.catalog.catalog import Catalog
from services.shared.catalog.database import Database
from services.shared.catalog.jobs import Job
from services.shared.catalog.schema import (
    changing_documents,
    documents,
    generation_documents,
    generation_terms,
    generations,
    is_unfinished,
    jobs,
    work_items,
)
from services.shared.index.chunk import StoredChunk
from services.shared.index.port import Index
from services.shared.runtime.errors import PlumblineError

_PER_FETCH = 500


@dataclass(frozen=True, slots=True)
class Held:
    """The documents with the ids of their chunks, in order, as the catalog tells them, and a digest of the chunks.

    The digest is over every field of every chunk and its vectors, but for the document's revision: that is another one
    where a caller repeated a deletion.
    """

    documents: Mapping[str, tuple[str, ...]]
    digest: str

    @property
    def chunks(self) -> int:
        """How many chunks the documents have."""
        return sum(map(len, self.documents.values()))


@dataclass(frozen=True, slots=True)
class _Row:
    revision: int
    chunk_ids: tuple[str, ...]


class Stores:
    """The stores as one more process reads them."""

    def __init__(self, database: Database, catalog: Catalog, index: Index, blobs: BlobStore) -> None:
        self._database = database
        self._catalog = catalog
        self._index = index
        self._blobs = blobs

    async def finished(self, collection: str, job_ids: Sequence[str]) -> list[Job]:
        """These jobs of the collection, once they have ended and nothing else of it waits to be applied."""
        while await self._waiting(collection):
            await asyncio.sleep(0.05)
        return [await self._catalog.jobs.get(job_id) for job_id in job_ids]

    async def done(self, collection: str) -> int:
        """How many changes of the collection have ended."""
        count = select(func.sum(jobs.c.reused + jobs.c.embedded + jobs.c.deleted + jobs.c.failed))
        async with self._database.read() as connection:
            return int(await connection.scalar(count.where(jobs.c.collection == collection)) or 0)

    async def taken_over(self, collection: str) -> int:
        """How many changes of the collection took more than one attempt."""
        count = select(func.count()).where(work_items.c.collection == collection, work_items.c.attempts > 1)
        async with self._database.read() as connection:
            return int(await connection.scalar(count) or 0)

    async def active(self, collection: str) -> str:
        """The id of the generation that serves."""
        return (await self._catalog.collections.get(collection)).active.id

    async def read(self, collection: str) -> tuple[Held, list[str]]:
        """What is held, and a sentence for each contradiction."""
        generation_id = await self.active(collection)
        rows = await self._rows(generation_id)
        chunks = [chunk async for chunk in self._chunks(generation_id, rows)]
        held = Held({id_: row.chunk_ids for id_, row in rows.items()}, _digest(chunks))
        problems = [
            *await self._in_the_index(generation_id, held, chunks, rows),
            *await self._in_the_statistics(generation_id, held, chunks),
            *await self._left_over(collection, generation_id),
            *await self._of_originals(collection, rows),
        ]
        return held, problems

    async def _rows(self, generation_id: str) -> dict[str, _Row]:
        query = select(generation_documents).where(generation_documents.c.generation_id == generation_id)
        async with self._database.read() as connection:
            found = (await connection.execute(query.order_by(generation_documents.c.document_id))).all()
        return {row.document_id: _Row(row.revision, tuple(row.chunk_ids)) for row in found}

    async def _chunks(self, generation_id: str, rows: Mapping[str, _Row]) -> AsyncIterator[StoredChunk]:
        ids = [id_ for row in rows.values() for id_ in row.chunk_ids]
        for start in range(0, len(ids), _PER_FETCH):
            for chunk in await self._index.fetch(generation_id, ids[start : start + _PER_FETCH], vectors=True):
                yield chunk

    async def _in_the_index(
        self, generation_id: str, held: Held, chunks: Sequence[StoredChunk], rows: Mapping[str, _Row]
    ) -> list[str]:
        problems = []
        if missing := held.chunks - len(chunks):
            problems.append(f"{missing} chunks that the catalog names are not in the index")
        # Also a second row of one id counts.
        if surplus := await self._index.count(generation_id) - len(chunks):
            problems.append(f"{surplus} chunks in the index belong to no document, or are there twice")
        behind = sum(chunk.revision != rows[chunk.document_id].revision for chunk in chunks)
        if behind:
            problems.append(f"{behind} chunks have another revision than their document")
        return problems

    async def _in_the_statistics(self, generation_id: str, held: Held, chunks: Sequence[StoredChunk]) -> list[str]:
        """Compare the term statistics with a count over the chunks themselves."""
        tokens, frequencies = 0, Counter[str]()
        for chunk in chunks:
            of_chunk = chunk.analysed.split()
            tokens += len(of_chunk)
            frequencies.update(set(of_chunk))
        async with self._database.read() as connection:
            generation = (await connection.execute(select(generations).where(generations.c.id == generation_id))).one()
            terms = select(generation_terms.c.token, generation_terms.c.chunks).where(
                generation_terms.c.generation_id == generation_id
            )
            counted = {row.token: row.chunks for row in await connection.execute(terms)}
        told = (generation.documents, generation.chunks, generation.tokens)
        if told != (len(held.documents), held.chunks, tokens):
            return [f"the generation tells of {told} documents, chunks and tokens, and holds others"]
        if generation.counted_revision != generation.revision or counted != dict(frequencies):
            return ["the term statistics differ from a count over the chunks"]
        return []

    async def _waiting(self, collection: str) -> int:
        waiting = select(func.count()).where(work_items.c.collection == collection, is_unfinished(work_items))
        async with self._database.read() as connection:
            return int(await connection.scalar(waiting) or 0)

    async def _left_over(self, collection: str, generation_id: str) -> list[str]:
        changing = select(func.count()).where(changing_documents.c.generation_id == generation_id)
        async with self._database.read() as connection:
            noted = await connection.scalar(changing)
        counts = {
            "changes are not applied": await self._waiting(collection),
            "documents are noted as being changed": noted,
        }
        return [f"{count} {what}" for what, count in counts.items() if count]

    async def _of_originals(self, collection: str, rows: Mapping[str, _Row]) -> list[str]:
        here = documents.c.collection == collection
        newest = select(documents.c.id, func.max(documents.c.revision).label("revision")).where(here)
        last = newest.group_by(documents.c.id).subquery()
        query = select(documents.c.id, documents.c.revision, documents.c.deleted, documents.c.blob).join(
            last, (last.c.id == documents.c.id) & (last.c.revision == documents.c.revision)
        )
        async with self._database.read() as connection:
            accepted = (await connection.execute(query.where(here))).all()
        standing = {row.id: row.revision for row in accepted if not row.deleted}
        problems = []
        if standing != {id_: row.revision for id_, row in rows.items()}:
            problems.append("the generation holds other revisions than were accepted last")
        lost = 0
        for row in accepted:
            if not row.deleted:
                try:
                    await self._blobs.get(row.blob)
                except PlumblineError:
                    lost += 1
        return [*problems, *([f"{lost} originals are lost or damaged"] if lost else [])]


@asynccontextmanager
async def opened_stores(catalog_url: str, index: Index, blobs: Path) -> AsyncIterator[Stores]:
    """The stores until the block ends; the index stays open."""
    database, catalog = Database.connect(catalog_url), await Catalog.open(catalog_url)
    try:
        yield Stores(database, catalog, index, BlobStore(str(blobs), max_bytes=2**30))
    finally:
        await catalog.close()
        await database.close()


def differences(held: Held, undisturbed: Held) -> Iterator[str]:
    """A sentence for each way in which what is held differs from what an undisturbed run holds."""
    if lost := undisturbed.documents.keys() - held.documents.keys():
        yield f"{len(lost)} documents are lost, {min(lost)} among them"
    if surplus := held.documents.keys() - undisturbed.documents.keys():
        yield f"{len(surplus)} documents are there that were deleted, {min(surplus)} among them"
    both = held.documents.keys() & undisturbed.documents.keys()
    if other := sorted(id_ for id_ in both if held.documents[id_] != undisturbed.documents[id_]):
        yield f"{len(other)} documents have other chunks, {other[0]} among them"
    if held.digest != undisturbed.digest:
        yield "the digest of the content is another one"


def _digest(chunks: Sequence[StoredChunk]) -> str:
    """SHA-256 over the chunks in the order of their ids."""
    digest = hashlib.sha256()
    for chunk in sorted(chunks, key=lambda one: one.chunk_id):
        assert chunk.vectors is not None, "chunks were read with their vectors"
        fields = {name: value for name, value in asdict(chunk).items() if name not in ("vectors", "revision")}
        digest.update(json.dumps(fields, sort_keys=True).encode())
        digest.update(np.ascontiguousarray(chunk.vectors, dtype=np.float32).tobytes())
    return digest.hexdigest()
