"""Jobs: changes accepted in one transaction, and what became of them."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from enum import StrEnum
from typing import Any

from sqlalchemy import Row, Select, delete, insert, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from services.shared.catalog.acceptance import Accepted, Change, Outcome, Standing, accept_changes
from services.shared.catalog.database import Database
from services.shared.catalog.documents import Delete, Put, Refused, is_last_and_failed, is_newest, put_of
from services.shared.catalog.generations import fail_builds
from services.shared.catalog.schema import (
    collections,
    documents,
    generation_documents,
    is_unfinished,
    jobs,
    work_items,
)
from services.shared.catalog.sequence import advance_applied_sequence, lock_collection
from services.shared.catalog.work_item import NO_LEASE, Action, ItemState
from services.shared.runtime.errors import NotFound

IDEMPOTENCY_WINDOW_S = 86_400.0  # how long a key names its first job
_IDS_PER_QUERY = 500  # far below the least number of parameters that an engine takes


class JobState(StrEnum):
    """`queued -> running -> succeeded`; `failed` when every document failed; `cancelled` before its end."""

    QUEUED = "queued"
    RUNNING = "running"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    CANCELLED = "cancelled"


_ENDED = (JobState.SUCCEEDED, JobState.FAILED, JobState.CANCELLED)


@dataclass(frozen=True, slots=True)
class Outcomes:
    """How many documents of a job ended how."""

    reused: int = 0
    embedded: int = 0
    deleted: int = 0
    failed: int = 0

    @property
    def done(self) -> int:
        """Documents that have ended."""
        return self.reused + self.embedded + self.deleted + self.failed

    def plus(self, outcome: Outcome) -> "Outcomes":
        """These and one more."""
        return replace(self, **{outcome.value: getattr(self, outcome.value) + 1})


@dataclass(frozen=True, slots=True)
class Job:
    """A list of changes and how far it is."""

    id: str
    collection: str
    state: JobState
    total: int
    outcomes: Outcomes
    created_at: float
    updated_at: float

    @property
    def done(self) -> int:
        """Documents that have ended, failed ones included."""
        return self.outcomes.done


@dataclass(frozen=True, slots=True)
class Failure:
    """A document that failed for good."""

    document_id: str
    reason: str


class Jobs:
    """Accepts changes and tells what became of them."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def accept(
        self,
        collection: str,
        changes: Sequence[Change],
        *,
        job_id: str,
        now: float,
        idempotency_key: str | None = None,
    ) -> Job:
        """The new job of `changes`, all of them durable, or none when this raises.

        A change that changes nothing ends at once as `reused` or `deleted`. The same `idempotency_key` within a day
        returns the first job and accepts nothing. Raises NotFound when the collection does not exist.
        """
        async with self._database.write() as connection:
            row = await lock_collection(connection, collection)
            if idempotency_key is not None:
                first = await _job_of_key(connection, collection, idempotency_key, now)
                if first is not None:
                    return first
            ids = sorted({change.id for change in changes})
            standings = await _standings(connection, collection, row.active_generation_id, ids)
            accepted = accept_changes(changes, standings, sequence=row.sequence)
            outcomes = Outcomes()
            for settled in (one.outcome for one in accepted if one.outcome is not None):
                outcomes = outcomes.plus(settled)
            job = Job(
                id=job_id,
                collection=collection,
                state=_state(len(accepted), outcomes, begun=False),
                total=len(accepted),
                outcomes=outcomes,
                created_at=now,
                updated_at=now,
            )
            await _insert(connection, job, accepted, idempotency_key)
            return job

    async def get(self, job_id: str) -> Job:
        """The job as it is now. Raises NotFound."""
        async with self._database.read() as connection:
            return _job(await _row(connection, select(jobs), job_id))

    async def failures(self, job_id: str, *, limit: int) -> tuple[Failure, ...]:
        """The first `limit` documents of the job that failed for good, in the order of acceptance."""
        query = (
            select(work_items.c.document_id, work_items.c.reason)
            .where(work_items.c.job_id == job_id, work_items.c.state == ItemState.DEAD)
            .order_by(work_items.c.id)
            .limit(limit)
        )
        async with self._database.read() as connection:
            return tuple(Failure(row.document_id, row.reason) for row in await connection.execute(query))

    async def list(self, *, collection: str | None, limit: int) -> tuple[Job, ...]:
        """The newest `limit` jobs, newest first, of one collection or of all."""
        query = select(jobs).order_by(jobs.c.created_at.desc(), jobs.c.id).limit(limit)
        if collection is not None:
            query = query.where(jobs.c.collection == collection)
        async with self._database.read() as connection:
            return tuple(_job(row) for row in await connection.execute(query))

    async def cancel(self, job_id: str, *, now: float) -> Job:
        """The job after what had not begun is as if it had never been accepted; what has begun is finished.

        A job that has ended stays as it is. Raises NotFound.
        """
        async with self._database.write() as connection:
            job = _job(await _row(connection, select(jobs), job_id))
            if job.state in _ENDED:
                return job
            with suppress(NotFound):  # deleted at this moment, and the job cancelled with it
                await lock_collection(connection, job.collection)
            job = _job(await _row(connection, select(jobs), job_id))
            if job.state in _ENDED:
                return job
            of_job = work_items.c.job_id == job_id
            await connection.execute(
                update(work_items)
                # An attempt may have left chunks of the new revision in an index.
                .where(of_job, work_items.c.state == ItemState.PENDING, work_items.c.attempts == 0)
                .values(state=ItemState.CANCELLED)
            )
            cancelled = select(work_items.c.revision).where(of_job, work_items.c.state == ItemState.CANCELLED)
            await connection.execute(
                delete(documents).where(documents.c.collection == job.collection, documents.c.revision.in_(cancelled))
            )
            await fail_builds(connection, job.collection, job_id=job_id)
            await connection.execute(
                update(jobs).where(jobs.c.id == job_id).values(state=JobState.CANCELLED, updated_at=now)
            )
            await advance_applied_sequence(connection, job.collection)
        return replace(job, state=JobState.CANCELLED, updated_at=now)


async def count_outcome(
    connection: AsyncConnection, job_id: str, outcome: Outcome, *, now: float, documents: int = 1
) -> None:
    """So many more documents of the job have ended; the last one ends the job, unless it was cancelled before."""
    counter = jobs.c[outcome.value]
    counted = await connection.execute(
        update(jobs)
        .where(jobs.c.id == job_id)
        .values({counter: counter + documents, jobs.c.updated_at: now})
        .returning(*jobs.c)
    )
    job = _job(counted.one())
    if job.done == job.total and job.state is JobState.RUNNING:
        ended = _state(job.total, job.outcomes, begun=True)
        await connection.execute(update(jobs).where(jobs.c.id == job_id).values(state=ended))


async def cancel_jobs_of_collection(connection: AsyncConnection, collection: str, *, now: float) -> None:
    """End everything that a deleted collection still waits for, begun or not, and forget its keys."""
    await connection.execute(
        update(work_items)
        .where(work_items.c.collection == collection, is_unfinished(work_items))
        .values(state=ItemState.CANCELLED, **NO_LEASE)
    )
    of_collection = update(jobs).where(jobs.c.collection == collection)
    await connection.execute(of_collection.values(idempotency_key=None))
    await connection.execute(
        of_collection.where(jobs.c.state.not_in(_ENDED)).values(state=JobState.CANCELLED, updated_at=now)
    )


def _state(total: int, outcomes: Outcomes, *, begun: bool) -> JobState:
    if outcomes.done < total:
        return JobState.RUNNING if begun else JobState.QUEUED
    return JobState.FAILED if total and outcomes.failed == total else JobState.SUCCEEDED


async def _job_of_key(connection: AsyncConnection, collection: str, key: str, now: float) -> Job | None:
    query = (
        select(jobs)
        .where(
            jobs.c.collection == collection,
            jobs.c.idempotency_key == key,
            jobs.c.created_at > now - IDEMPOTENCY_WINDOW_S,
        )
        .order_by(jobs.c.created_at)
        .limit(1)
    )
    row = (await connection.execute(query)).one_or_none()
    return None if row is None else _job(row)


async def _standings(
    connection: AsyncConnection, collection: str, active_generation_id: str, ids: Sequence[str]
) -> Mapping[str, Standing]:
    standings: dict[str, Standing] = {}
    for start in range(0, len(ids), _IDS_PER_QUERY):
        some = ids[start : start + _IDS_PER_QUERY]
        newest = await connection.execute(
            select(documents).where(documents.c.collection == collection, documents.c.id.in_(some), is_newest)
        )
        contents = {row.id: row for row in newest}
        applied = await connection.execute(
            select(generation_documents.c.document_id, generation_documents.c.revision).where(
                generation_documents.c.generation_id == active_generation_id,
                generation_documents.c.document_id.in_(some),
            )
        )
        revisions = {row.document_id: row.revision for row in applied}
        waiting = await connection.execute(
            select(work_items.c.document_id).where(
                work_items.c.collection == collection,
                work_items.c.document_id.in_(some),
                is_unfinished(work_items),
            )
        )
        failed = await connection.execute(
            select(documents.c.id).where(
                documents.c.collection == collection, documents.c.id.in_(some), is_last_and_failed
            )
        )
        unfinished = {row.document_id for row in waiting} | {row.id for row in failed}
        for document_id in some:
            row = contents.get(document_id)
            standings[document_id] = Standing(
                newest=None if row is None or row.deleted else put_of(row),
                newest_revision=None if row is None else row.revision,
                applied_revision=revisions.get(document_id),
                unfinished=document_id in unfinished,
            )
    return standings


async def _insert(
    connection: AsyncConnection, job: Job, accepted: Sequence[Accepted], idempotency_key: str | None
) -> None:
    await connection.execute(
        insert(jobs).values(
            id=job.id,
            collection=job.collection,
            idempotency_key=idempotency_key,
            state=job.state,
            total=job.total,
            **asdict(job.outcomes),
            created_at=job.created_at,
            updated_at=job.updated_at,
        )
    )
    numbered = [one for one in accepted if one.revision is not None]
    if numbered:
        await connection.execute(
            update(collections).where(collections.c.name == job.collection).values(sequence=numbered[-1].revision)
        )
        await connection.execute(insert(documents), [_document_row(job, one) for one in numbered])
    if accepted:
        await connection.execute(insert(work_items), [_item_row(job, one) for one in accepted])


def _document_row(job: Job, accepted: Accepted) -> dict[str, Any]:
    change = accepted.change
    content = asdict(change) if isinstance(change, Put) else _NO_CONTENT | {"id": change.id}
    return {
        **content,
        "collection": job.collection,
        "revision": accepted.revision,
        "deleted": not isinstance(change, Put),
        "accepted_at": job.created_at,
    }


_NO_CONTENT: dict[str, Any] = {
    "title": "",
    "uri": None,
    "locale": "",
    "date": None,
    "metadata": {},
    "media_type": "",
    "blob": None,
    "content_digest": None,
    "size": 0,
}


_STATES_AT_ONCE = {None: ItemState.PENDING, Outcome.FAILED: ItemState.DEAD}


def _item_row(job: Job, accepted: Accepted) -> dict[str, Any]:
    return {
        "job_id": job.id,
        "collection": job.collection,
        "document_id": accepted.change.id,
        "action": Action.DELETE if isinstance(accepted.change, Delete) else Action.PUT,
        "revision": accepted.revision,
        "state": _STATES_AT_ONCE.get(accepted.outcome, ItemState.DONE),
        "attempts": 0,
        "not_before": job.created_at,
        "outcome": accepted.outcome,
        "reason": accepted.change.reason if isinstance(accepted.change, Refused) else None,
    }


async def _row(connection: AsyncConnection, query: Select[Any], job_id: str) -> Row[Any]:
    row: Row[Any] | None = (await connection.execute(query.where(jobs.c.id == job_id))).one_or_none()
    if row is None:
        raise NotFound(f"job '{job_id}' does not exist; GET /v1/jobs lists them", field="job_id")
    return row


def _job(row: Row[Any]) -> Job:
    return Job(
        id=row.id,
        collection=row.collection,
        state=JobState(row.state),
        total=row.total,
        outcomes=Outcomes(row.reused, row.embedded, row.deleted, row.failed),
        created_at=row.created_at,
        updated_at=row.updated_at,
    )
