"""Building a generation beside the serving one: a list of the documents that it does not hold yet.

The list begins as what the active generation holds. A builder takes documents from it under a lease; a change that is
applied meanwhile takes its document off the list, because it is applied to this generation as well. So the builder
leaves a document alone while a change of it waits, and a change waits for the moment in which its document is being
built.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from sqlalchemy import ColumnElement, and_, delete, exists, func, insert, literal, or_, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from services.shared.catalog.acceptance import Outcome
from services.shared.catalog.database import Database
from services.shared.catalog.generations import fail_builds, insert_generation, set_state
from services.shared.catalog.holding import HeldDocument, hold_documents
from services.shared.catalog.jobs import JobState, count_outcome
from services.shared.catalog.manifest import Generation, GenerationState, Manifest
from services.shared.catalog.schema import (
    building_documents,
    collections,
    generation_documents,
    generations,
    is_unfinished,
    jobs,
    work_items,
)
from services.shared.catalog.sequence import advance_applied_sequence, lock_collection
from services.shared.catalog.term_statistics import DocumentTerms
from services.shared.catalog.work_item import NO_LEASE, Action, ItemState
from services.shared.runtime.errors import Conflict, NotFound


@dataclass(frozen=True, slots=True)
class BuildItem:
    """A document that a builder holds: this revision of it is to be put into the generation.

    `serving_id` is the generation that held it when it was claimed, whose vectors may be copied. Together with `owner`,
    `attempts`, which counts this one, names the lease.
    """

    generation_id: str
    collection: str
    document_id: str
    revision: int
    serving_id: str
    attempts: int
    owner: str


class Builds:
    """The generations that are being built, one of a collection at a time; for any number of builders."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def start(
        self, collection: str, *, generation_id: str, manifest: Manifest, job_id: str, now: float
    ) -> Generation:
        """A new generation, from now on kept in step with every change, and the job that counts its documents.

        It is ready at once when there is nothing to build. Raises NotFound, and Conflict when one is being built.
        """
        async with self._database.write() as connection:
            row = await lock_collection(connection, collection)
            building = await connection.scalar(
                select(generations.c.id).where(
                    generations.c.collection == collection, generations.c.state == GenerationState.BUILDING
                )
            )
            if building is not None:
                raise Conflict(f"generation '{building}' of '{collection}' is being built already")
            generation = await insert_generation(
                connection, collection, generation_id=generation_id, state=GenerationState.BUILDING,
                manifest=manifest, now=now, job_id=job_id,
            )  # fmt: skip
            serving = generation_documents.c.generation_id == row.active_generation_id
            document_id = generation_documents.c.document_id
            held = select(literal(generation_id), literal(collection), document_id, literal(0), literal(now))
            columns = ["generation_id", "collection", "document_id", "attempts", "not_before"]
            await connection.execute(insert(building_documents).from_select(columns, held.where(serving)))
            total = await _left(connection, generation_id)
            await connection.execute(
                insert(jobs).values(
                    id=job_id, collection=collection, state=JobState.RUNNING if total else JobState.SUCCEEDED,
                    total=total, reused=0, embedded=0, deleted=0, failed=0, created_at=now, updated_at=now,
                )
            )  # fmt: skip
            if not total:
                await _finish_if_built(connection, generation_id, collection)
        return generation if total else replace(generation, state=GenerationState.READY, applied_sequence=row.sequence)

    async def claim(self, *, owner: str, now: float, lease_s: float, limit: int) -> tuple[BuildItem, ...]:
        """At most `limit` documents of one generation that nobody else builds until `now + lease_s`; () for none."""
        async with self._database.write() as connection:
            generation_id = await connection.scalar(
                select(generations.c.id)
                .join(building_documents, building_documents.c.generation_id == generations.c.id)
                .where(_is_due(now))
                .order_by(generations.c.created_at)
                .limit(1)
            )
            due = (
                select(building_documents.c.document_id)
                .where(building_documents.c.generation_id == generation_id, _is_due(now))
                .order_by(building_documents.c.document_id)
                .limit(limit)
                .with_for_update(skip_locked=True)
            )
            ids = (await connection.execute(due)).scalars().all()
            if not ids:
                return ()
            await connection.execute(
                update(building_documents)
                .where(building_documents.c.generation_id == generation_id, building_documents.c.document_id.in_(ids))
                .values(attempts=building_documents.c.attempts + 1, lease_owner=owner, lease_until=now + lease_s)
            )
        # A change accepted just before may have been claimed just now as well. It did not see this lease, so this sees
        # it: both were written before either was read.
        async with self._database.write() as connection:
            mine = and_(
                building_documents.c.generation_id == generation_id,
                building_documents.c.document_id.in_(ids),
                building_documents.c.lease_owner == owner,
            )
            await connection.execute(update(building_documents).where(mine, _is_changing).values(**NO_LEASE))
            rows = await connection.execute(
                select(
                    *building_documents.c, generation_documents.c.revision,
                    generation_documents.c.generation_id.label("serving_id"),
                )
                .join(collections, collections.c.name == building_documents.c.collection)
                .join(
                    generation_documents,
                    and_(
                        generation_documents.c.generation_id == collections.c.active_generation_id,
                        generation_documents.c.document_id == building_documents.c.document_id,
                    ),
                )
                .where(mine)
                .order_by(building_documents.c.document_id)
            )  # fmt: skip
            return tuple(
                BuildItem(
                    generation_id=row.generation_id,
                    collection=row.collection,
                    document_id=row.document_id,
                    revision=row.revision,
                    serving_id=row.serving_id,
                    attempts=row.attempts,
                    owner=owner,
                )
                for row in rows
            )

    async def renew(self, items: Sequence[BuildItem], *, now: float, lease_s: float) -> None:
        """Hold what is still held of the items, at least one and of one claim, until `now + lease_s`."""
        first = items[0]
        async with self._database.write() as connection:
            await connection.execute(
                update(building_documents)
                .where(
                    building_documents.c.generation_id == first.generation_id,
                    building_documents.c.document_id.in_([item.document_id for item in items]),
                    building_documents.c.lease_owner == first.owner,
                )
                .values(lease_until=now + lease_s)
            )

    async def require_held(self, items: Sequence[BuildItem]) -> None:
        """Return when all leases of the items, of one claim, hold at this moment. Raises Conflict when one is lost."""
        query = select(building_documents.c.document_id, building_documents.c.attempts).where(
            building_documents.c.generation_id == items[0].generation_id,
            building_documents.c.document_id.in_([item.document_id for item in items]),
            building_documents.c.lease_owner == items[0].owner,
        )
        async with self._database.read() as connection:
            attempts = {row.document_id: row.attempts for row in await connection.execute(query)}
        for item in items:
            if attempts.get(item.document_id) != item.attempts:
                raise _lost(item)

    async def commit(
        self, item: BuildItem, *, chunk_ids: Sequence[str], terms: DocumentTerms, outcome: Outcome, now: float
    ) -> None:
        """Record that the generation holds the item's revision; with its last document it is ready.

        Raises Conflict when the lease is lost or a change has come between.
        """
        async with self._database.write() as connection:
            await _lock(connection, item)
            gone = await connection.execute(delete(building_documents).where(_is_held(item), ~_is_changing))
            if gone.rowcount == 0:
                raise _lost(item)
            held = HeldDocument(item.document_id, item.revision, chunk_ids, terms)
            await hold_documents(connection, item.generation_id, [held])
            await _count(connection, item.generation_id, item.collection, outcome, now=now)

    async def put_off(self, item: BuildItem, *, retry_at: float) -> None:
        """Let any builder try again at `retry_at`; nothing when the lease is lost."""
        async with self._database.write() as connection:
            await connection.execute(
                update(building_documents).where(_is_held(item)).values(not_before=retry_at, **NO_LEASE)
            )

    async def fail(self, item: BuildItem, *, reason: str, now: float) -> None:
        """End the build: the generation has failed because of this document. Raises Conflict when the lease is lost."""
        async with self._database.write() as connection:
            await _lock(connection, item)
            if await connection.scalar(select(building_documents.c.document_id).where(_is_held(item))) is None:
                raise _lost(item)
            job_id = await connection.scalar(select(generations.c.job_id).where(generations.c.id == item.generation_id))
            await connection.execute(
                insert(work_items).values(
                    job_id=job_id, collection=item.collection, document_id=item.document_id, action=Action.PUT,
                    state=ItemState.DEAD, attempts=item.attempts, not_before=now, outcome=Outcome.FAILED, reason=reason,
                )
            )  # fmt: skip
            await fail_builds(connection, item.collection)
            await connection.execute(
                update(jobs)
                .where(jobs.c.id == job_id)
                .values(state=JobState.FAILED, failed=jobs.c.failed + 1, updated_at=now)
            )


async def take_off_the_list(
    connection: AsyncConnection, collection: str, outcomes: Mapping[str, Outcome], *, now: float
) -> None:
    """Changes of documents, by id how each ended, were applied to the generations that are being built as well."""
    listed = and_(building_documents.c.collection == collection, building_documents.c.document_id.in_(list(outcomes)))
    taken = await connection.execute(
        delete(building_documents)
        .where(listed)
        .returning(building_documents.c.generation_id, building_documents.c.document_id)
    )
    for generation_id, document_id in taken.all():
        await _count(connection, generation_id, collection, outcomes[document_id], now=now)


_is_changing = exists().where(
    work_items.c.collection == building_documents.c.collection,
    work_items.c.document_id == building_documents.c.document_id,
    is_unfinished(work_items),
)


def _is_due(now: float) -> ColumnElement[bool]:
    return and_(
        building_documents.c.not_before <= now,
        or_(building_documents.c.lease_until.is_(None), building_documents.c.lease_until <= now),
        ~_is_changing,
    )


def _is_held(item: BuildItem) -> ColumnElement[bool]:
    return and_(
        building_documents.c.generation_id == item.generation_id,
        building_documents.c.document_id == item.document_id,
        building_documents.c.lease_owner == item.owner,
        building_documents.c.attempts == item.attempts,
    )


def _lost(item: BuildItem) -> Conflict:
    return Conflict(f"document '{item.document_id}' of generation '{item.generation_id}' is no longer this builder's")


async def _lock(connection: AsyncConnection, item: BuildItem) -> None:
    try:
        await lock_collection(connection, item.collection)
    except NotFound:
        raise _lost(item) from None


async def _left(connection: AsyncConnection, generation_id: str) -> int:
    count = select(func.count()).where(building_documents.c.generation_id == generation_id)
    return int(await connection.scalar(count) or 0)


async def _count(
    connection: AsyncConnection, generation_id: str, collection: str, outcome: Outcome, *, now: float
) -> None:
    job_id = await connection.scalar(select(generations.c.job_id).where(generations.c.id == generation_id))
    await _finish_if_built(connection, generation_id, collection)
    if job_id is not None:
        await count_outcome(connection, job_id, outcome, now=now)


async def _finish_if_built(connection: AsyncConnection, generation_id: str, collection: str) -> None:
    any_left = select(building_documents.c.document_id).where(building_documents.c.generation_id == generation_id)
    if await connection.scalar(any_left.limit(1)) is None:
        await set_state(connection, generation_id, GenerationState.READY)
        await advance_applied_sequence(connection, collection)
