"""What the catalog says that the other stores hold: for comparing them with it, as after a restore."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Row, and_, func, select, update

from services.shared.catalog.database import Database
from services.shared.catalog.documents import is_superseded
from services.shared.catalog.schema import (
    building_documents,
    documents,
    generation_documents,
    generations,
    is_unfinished,
    work_items,
)
from services.shared.catalog.sequence import lock_collection
from services.shared.runtime.errors import Conflict


@dataclass(frozen=True, slots=True)
class Holding:
    """A document that a generation holds: which revision of it, as which chunks in their order."""

    document_id: str
    revision: int
    chunk_ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Original:
    """A revision of a document, and the digest under which its original is to be found."""

    collection: str
    document_id: str
    revision: int
    blob: str


class Inventory:
    """Lists what should be there."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def holdings(self, generation_id: str, *, after: str, limit: int) -> tuple[Holding, ...]:
        """The next `limit` documents that the generation holds whose ids come after `after`, in their order."""
        query = (
            select(generation_documents)
            .where(generation_documents.c.generation_id == generation_id, generation_documents.c.document_id > after)
            .order_by(generation_documents.c.document_id)
            .limit(limit)
        )
        async with self._database.read() as connection:
            return tuple(_holding(row) for row in await connection.execute(query))

    async def holdings_of(self, generation_id: str, document_ids: Sequence[str]) -> Mapping[str, Holding]:
        """What the generation holds of at most 1,000 documents, by their ids; nothing of the others."""
        query = select(generation_documents).where(
            generation_documents.c.generation_id == generation_id, generation_documents.c.document_id.in_(document_ids)
        )
        async with self._database.read() as connection:
            return {row.document_id: _holding(row) for row in await connection.execute(query)}

    async def originals(self, prefix: str) -> tuple[Original, ...]:
        """The originals that are still read, and whose digests begin with `prefix`, lower-case hex digits."""
        query = (
            select(documents.c.collection, documents.c.id, documents.c.revision, documents.c.blob)
            .where(documents.c.blob >= prefix, documents.c.blob < f"{prefix}g", ~is_superseded)
            .order_by(documents.c.collection, documents.c.id, documents.c.revision)
        )
        async with self._database.read() as connection:
            return tuple(
                Original(row.collection, row.id, row.revision, row.blob) for row in await connection.execute(query)
            )

    async def being_applied(self, *, now: float) -> int:
        """How many documents a worker or a builder holds at this moment."""
        applied = (
            select(func.count())
            .select_from(work_items)
            .where(is_unfinished(work_items), work_items.c.lease_until > now)
        )
        built = select(func.count()).select_from(building_documents).where(building_documents.c.lease_until > now)
        async with self._database.read() as connection:
            return int(await connection.scalar(applied) or 0) + int(await connection.scalar(built) or 0)

    async def correct(self, generation_id: str, holding: Holding, chunk_ids: Sequence[str]) -> None:
        """The index holds the document as these chunks, and not as those of `holding`.

        The generation's term statistics are no longer right, and it has none from then on. Raises Conflict when the
        catalog no longer says what `holding` does, NotFound when the collection is gone.
        """
        here = and_(
            generation_documents.c.generation_id == generation_id,
            generation_documents.c.document_id == holding.document_id,
            generation_documents.c.revision == holding.revision,
        )
        collection = select(generations.c.collection).where(generations.c.id == generation_id)
        async with self._database.write() as connection:
            await lock_collection(connection, await connection.scalar(collection) or "")
            chunks_before = await connection.scalar(select(generation_documents.c.chunks).where(here))
            if chunks_before is None:
                raise Conflict(f"document '{holding.document_id}' was changed meanwhile")
            await connection.execute(
                update(generation_documents).where(here).values(chunk_ids=list(chunk_ids), chunks=len(chunk_ids))
            )
            await connection.execute(
                update(generations)
                .where(generations.c.id == generation_id)
                .values(
                    revision=generations.c.revision + 1,
                    counted_revision=None,
                    chunks=generations.c.chunks + len(chunk_ids) - chunks_before,
                )
            )


def _holding(row: Row[Any]) -> Holding:
    return Holding(row.document_id, row.revision, tuple(row.chunk_ids))
