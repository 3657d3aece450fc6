"""Applying the newest change of a document once more, where an index may hold something else than the catalog says.

A worker that stood still until its lease was lost writes into the index all the same when it goes on, perhaps after
what its successor wrote. It learns of that when it cannot commit, and has the document applied again: an attempt asks
the index what it holds, so it comes to what the catalog says whatever that is.
"""

from sqlalchemy import and_, insert, select

from services.shared.catalog.database import Database
from services.shared.catalog.generations import live_generation_ids
from services.shared.catalog.jobs import JobState
from services.shared.catalog.schema import documents, jobs, work_items
from services.shared.catalog.sequence import lock_collection
from services.shared.catalog.work_item import Action, ItemState
from services.shared.runtime.errors import NotFound


class Repairs:
    """Has documents applied again."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def apply_again(
        self, collection: str, document_id: str, *, job_id: str, now: float, written_to: str | None = None
    ) -> bool:
        """Have the newest change of the document applied again, in a job of its own; whether that was necessary.

        It is not when a change waits that will be applied later anyway, when there is no such document or collection,
        or when nothing is applied any more to the generation that was `written_to`.
        """
        async with self._database.write() as connection:
            try:
                await lock_collection(connection, collection)
            except NotFound:
                return False
            if written_to is not None and written_to not in await live_generation_ids(connection, collection):
                return False
            of_document = and_(work_items.c.collection == collection, work_items.c.document_id == document_id)
            waiting = select(work_items.c.id).where(of_document, work_items.c.state == ItemState.PENDING)
            if await connection.scalar(waiting.limit(1)) is not None:
                return False
            of_revisions = and_(
                documents.c.collection == collection, documents.c.id == document_id, ~documents.c.failed
            )
            newest = select(documents.c.revision, documents.c.deleted).where(of_revisions)
            row = (await connection.execute(newest.order_by(documents.c.revision.desc()).limit(1))).one_or_none()
            if row is None:
                return False
            await connection.execute(
                insert(jobs).values(
                    id=job_id, collection=collection, state=JobState.QUEUED, total=1,
                    reused=0, embedded=0, deleted=0, failed=0, created_at=now, updated_at=now,
                )
            )  # fmt: skip
            await connection.execute(
                insert(work_items).values(
                    job_id=job_id, collection=collection, document_id=document_id, revision=row.revision,
                    action=Action.DELETE if row.deleted else Action.PUT, state=ItemState.PENDING, not_before=now,
                    # The revision was begun before: cancelling this job must not forget it.
                    attempts=1,
                )
            )  # fmt: skip
        return True
