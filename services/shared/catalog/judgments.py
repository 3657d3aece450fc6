"""Judged queries: what a collection should find and how well, so that a change to it can be measured."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from sqlalchemy import Row, delete, insert, select

from services.shared.catalog.database import Database
from services.shared.catalog.documents import MAX_PAGE
from services.shared.catalog.schema import judgments
from services.shared.catalog.sequence import lock_collection, require_collection
from services.shared.runtime.errors import InvalidInput

MAX_GRADE = 3


@dataclass(frozen=True, slots=True)
class Judgment:
    """A query with the grades of documents, by their ids: 0 is not relevant, MAX_GRADE the best there is.

    A document without a grade counts as 0. `locale` None is the collection's; `filter` is as a search takes it.
    """

    id: str
    query: str
    locale: str | None
    filter: Mapping[str, Any] | None
    relevance: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class JudgmentPage:
    """Judgments in the order of their ids; `next` is what to list after, None at the end."""

    judgments: tuple[Judgment, ...]
    next: str | None


class Judgments:
    """The judged queries of each collection; they go with it."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def put(self, collection: str, judged: Sequence[Judgment]) -> None:
        """Keep all of them, each in place of the one with its id; no id may come twice. Raises NotFound."""
        async with self._database.write() as connection:
            await lock_collection(connection, collection)
            ids = [judgment.id for judgment in judged]
            await connection.execute(
                delete(judgments).where(judgments.c.collection == collection, judgments.c.id.in_(ids))
            )
            rows = [{"collection": collection, **asdict(judgment)} for judgment in judged]
            await connection.execute(insert(judgments), rows)

    async def list(self, collection: str, *, after: str | None, limit: int) -> JudgmentPage:
        """At most `limit` judgments, 1 to 1,000, whose ids come after `after`. Raises NotFound, InvalidInput."""
        if not 1 <= limit <= MAX_PAGE:
            raise InvalidInput(f"limit is from 1 to {MAX_PAGE}", field="limit")
        query = select(judgments).where(judgments.c.collection == collection)
        if after is not None:
            query = query.where(judgments.c.id > after)
        async with self._database.read() as connection:
            await require_collection(connection, collection)
            rows = (await connection.execute(query.order_by(judgments.c.id).limit(limit + 1))).all()
        page = tuple(_judgment(row) for row in rows[:limit])
        return JudgmentPage(page, page[-1].id if len(rows) > limit else None)


def _judgment(row: Row[Any]) -> Judgment:
    return Judgment(id=row.id, query=row.query, locale=row.locale, filter=row.filter, relevance=row.relevance)
