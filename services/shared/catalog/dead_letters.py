"""Dead letters: changes of documents that failed for good, with the reason, and their way back into the queue."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Row, Select, and_, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from services.shared.catalog.database import Database
from services.shared.catalog.documents import is_last_and_failed
from services.shared.catalog.jobs import JobState
from services.shared.catalog.schema import documents, jobs, work_items
from services.shared.catalog.sequence import advance_applied_sequence, lock_collection
from services.shared.catalog.work_item import ItemState


@dataclass(frozen=True, slots=True)
class DeadLetter:
    """A document whose last accepted change failed for good.

    `id` rises with acceptance over all collections; `attempts` are those made, `reason` is what the last one met.
    """

    id: int
    job_id: str
    collection: str
    document_id: str
    revision: int
    attempts: int
    reason: str
    accepted_at: float


class DeadLetters:
    """What failed and has not been settled since: a later change of the document takes it off this list."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def list(self, *, collection: str | None, after: int, limit: int) -> tuple[DeadLetter, ...]:
        """The next `limit` letters whose ids come after `after`, of one collection or of all, oldest first."""
        query = _letters(collection).where(work_items.c.id > after).order_by(work_items.c.id).limit(limit)
        async with self._database.read() as connection:
            return tuple(_letter(row) for row in await connection.execute(query))

    async def retry(self, letters: Sequence[DeadLetter], *, now: float) -> int:
        """Let workers try these again, each as if for the first time; how many of them were still dead.

        The reason stays until another attempt has one. A job that had ended runs again until they have.
        """
        revived = 0
        for collection in sorted({letter.collection for letter in letters}):
            ids = [letter.id for letter in letters if letter.collection == collection]
            async with self._database.write() as connection:
                await lock_collection(connection, collection)
                revived += await _revive(connection, collection, ids, now=now)
        return revived


async def _revive(connection: AsyncConnection, collection: str, ids: Sequence[int], *, now: float) -> int:
    dead = (await connection.execute(_letters(collection).where(work_items.c.id.in_(ids)))).all()
    if not dead:
        return 0
    await connection.execute(
        update(work_items)
        .where(work_items.c.id.in_([row.id for row in dead]))
        .values(state=ItemState.PENDING, outcome=None, attempts=0, not_before=now)
    )
    await connection.execute(
        update(documents)
        .where(documents.c.collection == collection, documents.c.revision.in_([row.revision for row in dead]))
        .values(failed=False)
    )
    for job_id in sorted({row.job_id for row in dead}):
        of_job = sum(row.job_id == job_id for row in dead)
        job = update(jobs).where(jobs.c.id == job_id)
        await connection.execute(job.values(failed=jobs.c.failed - of_job, updated_at=now))
        await connection.execute(job.where(jobs.c.state != JobState.CANCELLED).values(state=JobState.RUNNING))
    await advance_applied_sequence(connection, collection)
    return len(dead)


_is_its_change = and_(documents.c.collection == work_items.c.collection, documents.c.revision == work_items.c.revision)


def _letters(collection: str | None) -> Select[Any]:
    query = (
        select(work_items, documents.c.accepted_at)
        .join(documents, _is_its_change)
        .where(work_items.c.state == ItemState.DEAD, is_last_and_failed)
    )
    return query if collection is None else query.where(work_items.c.collection == collection)


def _letter(row: Row[Any]) -> DeadLetter:
    return DeadLetter(
        id=row.id,
        job_id=row.job_id,
        collection=row.collection,
        document_id=row.document_id,
        revision=row.revision,
        attempts=row.attempts,
        reason=row.reason,
        accepted_at=row.accepted_at,
    )
