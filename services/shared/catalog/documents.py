"""Documents: what a caller puts, the revisions that come of it, and how they are read."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, Row, Select, and_, delete, exists, func, select, tuple_
from sqlalchemy.sql import FromClause

from services.shared.catalog.database import Database
from services.shared.catalog.schema import (
    collections,
    documents,
    generation_documents,
    is_unfinished,
    work_items,
)
from services.shared.catalog.sequence import require_collection
from services.shared.index.fields import FieldValue
from services.shared.runtime.errors import InvalidInput, NotFound

MAX_PAGE = 1000


@dataclass(frozen=True, slots=True)
class Put:
    """A document as it is given, its parts already checked (`fields.py`).

    `blob` is the digest of the original and `size` its bytes, 0 where that is not known. `content_digest` is equal for
    two documents when the same chunks come of them.
    """

    id: str
    title: str
    uri: str | None
    locale: str
    date: str | None
    metadata: Mapping[str, FieldValue]
    media_type: str
    blob: str
    content_digest: str
    size: int = 0


@dataclass(frozen=True, slots=True)
class Delete:
    """The wish that a document be gone; it need not exist."""

    id: str


@dataclass(frozen=True, slots=True)
class Refused:
    """A document of a file that could not be read: a failure of the job from the beginning, beside its neighbours."""

    id: str
    reason: str


@dataclass(frozen=True, slots=True)
class Document:
    """One revision of a document.

    `revision` is the number of the change that made it in the collection's sequence: it rises with every change of
    the document and is never used twice. `chunks` counts what the active generation holds of the document, of
    whatever revision; 0 until the first is applied.
    """

    collection: str
    revision: int
    content: Put
    own_title: str
    chunks: int
    accepted_at: float

    @property
    def id(self) -> str:
        """The document's id, unique in its collection."""
        return self.content.id

    @property
    def title(self) -> str:
        """The title that the caller gave, else the content's own, known once the document was applied."""
        return self.content.title or self.own_title


@dataclass(frozen=True, slots=True)
class DocumentPage:
    """Documents in the order of their ids; `next` is what to list after, None at the end."""

    documents: tuple[Document, ...]
    next: str | None


def _has_work(revisions: FromClause) -> ColumnElement[bool]:
    """Whether a row of `revisions` (the table of documents or an alias) is still to be applied."""
    return exists().where(
        work_items.c.collection == revisions.c.collection,
        work_items.c.document_id == revisions.c.id,
        work_items.c.revision == revisions.c.revision,
        is_unfinished(work_items),
    )


_SELECT: Select[Any] = (
    select(documents, func.coalesce(generation_documents.c.chunks, 0).label("chunk_count"))
    .join(collections, collections.c.name == documents.c.collection)
    .outerjoin(
        generation_documents,
        and_(
            generation_documents.c.generation_id == collections.c.active_generation_id,
            generation_documents.c.document_id == documents.c.id,
        ),
    )
    .where(~documents.c.deleted)
)
_newer = documents.alias("newer")
_is_newer = and_(
    _newer.c.collection == documents.c.collection,
    _newer.c.id == documents.c.id,
    _newer.c.revision > documents.c.revision,
)
is_newest = and_(~documents.c.failed, ~exists().where(_is_newer, ~_newer.c.failed))
"""Whether a row is what the document is: the newest revision that has not failed for good."""
is_last_and_failed = and_(documents.c.failed, ~exists().where(_is_newer))
"""Whether a row is the last that was accepted of the document, and failed for good."""

is_superseded = and_(
    # A newer one that is still to be applied can fail or be cancelled, and then this one is the document again.
    exists().where(_is_newer, ~_newer.c.failed, ~_has_work(_newer)),
    ~_has_work(documents),
)
"""Whether a row is a revision that nothing reads any more."""


class Documents:
    """The accepted documents of each collection; a deleted one is not there, applied or not.

    A revision that failed for good is none: the document is what it was before, and does not exist if it was nothing.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    async def get(self, collection: str, document_id: str) -> Document:
        """The newest revision that has not failed. Raises NotFound when there is no such document or collection."""
        return await self._one(
            _SELECT.where(documents.c.collection == collection, documents.c.id == document_id, is_newest),
            collection,
            document_id,
        )

    async def at_revision(self, collection: str, document_id: str, revision: int) -> Document:
        """This revision, whatever came after it. Raises NotFound."""
        return await self._one(
            _SELECT.where(
                documents.c.collection == collection,
                documents.c.id == document_id,
                documents.c.revision == revision,
            ),
            collection,
            document_id,
        )

    async def at_revisions(self, collection: str, revisions: Sequence[int]) -> Mapping[int, Document]:
        """The documents whose changes have these numbers, at most 1,000, by number, whatever came after them.

        Numbers of deletions and those that are not there are left out.
        """
        query = _SELECT.where(documents.c.collection == collection, documents.c.revision.in_(revisions))
        async with self._database.read() as connection:
            return {row.revision: _document(row) for row in await connection.execute(query)}

    async def list(self, collection: str, *, after: str | None, limit: int) -> DocumentPage:
        """At most `limit` documents, 1 to 1,000, whose ids come after `after`. Raises NotFound, InvalidInput."""
        if not 1 <= limit <= MAX_PAGE:
            raise InvalidInput(f"limit is from 1 to {MAX_PAGE}", field="limit")
        query = _SELECT.where(documents.c.collection == collection, is_newest)
        if after is not None:
            query = query.where(documents.c.id > after)
        async with self._database.read() as connection:
            await require_collection(connection, collection)
            rows = (await connection.execute(query.order_by(documents.c.id).limit(limit + 1))).all()
        page = tuple(_document(row) for row in rows[:limit])
        return DocumentPage(page, page[-1].id if len(rows) > limit else None)

    async def named_blobs(self, digests: Sequence[str]) -> set[str]:
        """Those of at most 1,000 digests that a revision of a document names as its original."""
        query = select(documents.c.blob).where(documents.c.blob.in_(digests)).distinct()
        async with self._database.read() as connection:
            return set((await connection.execute(query)).scalars())

    async def forget_superseded(self, *, after: tuple[str, str, int], limit: int) -> tuple[str, str, int] | None:
        """Forget revisions that nothing reads any more, of the next `limit` that come after `after`; where to go on.

        Such a revision has no work left, and a newer one has been applied. The order is collection, document id,
        revision; begin after `("", "", 0)`. None at the end.
        """
        columns = (documents.c.collection, documents.c.id, documents.c.revision)
        key = tuple_(*columns)
        page = select(*columns).where(key > after, is_superseded).order_by(*columns).limit(limit)
        async with self._database.read() as connection:
            found = [(row.collection, row.id, row.revision) for row in await connection.execute(page)]
        if found:
            async with self._database.write() as connection:
                await connection.execute(delete(documents).where(key.in_(found), is_superseded))
        return found[-1] if len(found) == limit else None

    async def _one(self, query: Select[Any], collection: str, document_id: str) -> Document:
        async with self._database.read() as connection:
            row = (await connection.execute(query)).one_or_none()
        if row is None:
            raise NotFound(f"collection '{collection}' has no document '{document_id}'", field="document_id")
        return _document(row)


def put_of(row: Row[Any]) -> Put:
    """The content in a row of the table of documents that is no deletion."""
    return Put(
        id=row.id,
        title=row.title,
        uri=row.uri,
        locale=row.locale,
        date=row.date,
        metadata=row.metadata,
        media_type=row.media_type,
        blob=row.blob,
        content_digest=row.content_digest,
        size=row.size,
    )


def _document(row: Row[Any]) -> Document:
    return Document(
        collection=row.collection,
        revision=row.revision,
        content=put_of(row),
        own_title=row.own_title,
        chunks=row.chunk_count,
        accepted_at=row.accepted_at,
    )
