"""The work queue: an item is claimed under a lease, and only its holder says how it ended.

A worker that dies loses its lease by time, and the item is claimed again; whatever it wrote into an index before is
written again in the same way, because ids and revisions are the same.
"""

import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate
from typing import Any

from sqlalchemy import ColumnElement, and_, exists, func, or_, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from services.shared.catalog.acceptance import Outcome
from services.shared.catalog.builds import take_off_the_list
from services.shared.catalog.database import Database
from services.shared.catalog.generations import live_generation_ids
from services.shared.catalog.holding import HeldDocument, hold_documents
from services.shared.catalog.jobs import JobState, count_outcome
from services.shared.catalog.schema import (
    building_documents,
    documents,
    generation_documents,
    generations,
    is_unfinished,
    jobs,
    work_items,
)
from services.shared.catalog.sequence import advance_applied_sequence, lock_collection
from services.shared.catalog.term_statistics import DocumentTerms, remember
from services.shared.catalog.work_item import NO_LEASE, Action, ItemState, WorkItem
from services.shared.runtime.errors import Conflict, NotFound

_earlier = work_items.alias("earlier")


@dataclass(frozen=True, slots=True)
class AppliedItem:
    """An item whose change the indexes hold.

    `chunk_ids` has the document's chunks, in order, for every generation that is kept in step: the one that is active,
    being built or ready, and the previous one; for a deletion the lists are empty. `own_title` is the one that the
    document's content has, `terms` are what each generation counts of it from now on, none unless said.
    """

    item: WorkItem
    outcome: Outcome
    chunk_ids: Mapping[str, Sequence[str]]
    own_title: str = ""
    terms: Mapping[str, DocumentTerms] = field(default_factory=dict)

    def held_by(self, generation_id: str) -> HeldDocument:
        """What this generation holds of the document. Raises Conflict when the change was not applied to it."""
        if generation_id not in self.chunk_ids:
            raise Conflict(f"generation '{generation_id}' is kept in step as well; apply the item to it too")
        revision = None if self.item.action is Action.DELETE else self.item.revision
        terms = self.terms.get(generation_id, DocumentTerms())
        return HeldDocument(self.item.document_id, revision, self.chunk_ids[generation_id], terms)


class WorkQueue:
    """Accepted changes that are not applied yet, for any number of workers in any number of processes."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def claim(
        self,
        *,
        owner: str,
        now: float,
        lease_s: float,
        limit: int = 1,
        max_bytes: int = sys.maxsize,
        max_bytes_each: int = sys.maxsize,
    ) -> tuple[WorkItem, ...]:
        """At most `limit` items, oldest first, that nobody else holds until `now + lease_s`; () when none is due.

        Their originals have at most `max_bytes` together, unless it is a single item, and `max_bytes_each` each: larger
        items are left to others.

        An item is due when its time has come, nobody holds an unexpired lease on it, and no earlier change of its
        document is unfinished: so changes of one document are applied in order, one at a time. Nor is it put into a
        generation that is being built at this moment.
        """
        due = or_(
            and_(work_items.c.state == ItemState.PENDING, work_items.c.not_before <= now),
            and_(work_items.c.state == ItemState.LEASED, work_items.c.lease_until <= now),
        )
        waits_for_earlier = exists().where(
            _earlier.c.collection == work_items.c.collection,
            _earlier.c.document_id == work_items.c.document_id,
            _earlier.c.id < work_items.c.id,
            is_unfinished(_earlier),
        )
        is_being_built = exists().where(
            building_documents.c.collection == work_items.c.collection,
            building_documents.c.document_id == work_items.c.document_id,
            building_documents.c.lease_until > now,
        )
        oldest = (
            select(work_items.c.id, documents.c.size)
            .join(
                documents,
                and_(documents.c.collection == work_items.c.collection, documents.c.revision == work_items.c.revision),
            )
            .where(
                is_unfinished(work_items), due, ~waits_for_earlier, ~is_being_built, documents.c.size <= max_bytes_each
            )
            .order_by(work_items.c.id)
            .limit(limit)
            # Lets workers on PostgreSQL pass each other; SQLite has no such clause and one writer.
            .with_for_update(skip_locked=True, of=work_items)
        )
        async with self._database.write() as connection:
            rows = (await connection.execute(oldest)).all()
            fitting = sum(bytes_ <= max_bytes for bytes_ in accumulate(row.size for row in rows))
            ids = [row.id for row in rows[: max(1, fitting)]]
            if not ids:
                return ()
            claimed = await connection.execute(
                update(work_items)
                .where(work_items.c.id.in_(ids))
                .values(
                    state=ItemState.LEASED,
                    attempts=work_items.c.attempts + 1,
                    lease_owner=owner,
                    lease_until=now + lease_s,
                )
                .returning(*work_items.c)
            )
            items = sorted((_item(row._mapping) for row in claimed), key=lambda item: item.id)
            queued = (
                select(jobs.c.id)
                .where(jobs.c.id.in_({item.job_id for item in items}), jobs.c.state == JobState.QUEUED)
                .order_by(jobs.c.id)  # so that two workers do not wait for each other
                .with_for_update()
            )
            await connection.execute(
                update(jobs).where(jobs.c.id.in_(queued)).values(state=JobState.RUNNING, updated_at=now)
            )
        return tuple(items)

    async def waiting(self) -> int:
        """How many accepted changes are not applied yet."""
        async with self._database.read() as connection:
            query = select(func.count()).select_from(work_items).where(is_unfinished(work_items))
            return int(await connection.scalar(query) or 0)

    async def renew(self, items: Sequence[WorkItem], *, now: float, lease_s: float) -> tuple[WorkItem, ...]:
        """Those of the items that their leases still hold, from now on until `now + lease_s`.

        One whose end is being recorded at this moment is left out, so that the two never wait for each other.
        """
        renewed: set[int] = set()
        async with self._database.write() as connection:
            for of_lease in _by_lease(items):
                free = select(work_items.c.id).where(_are_held(of_lease)).with_for_update(skip_locked=True)
                ids = (await connection.execute(free)).scalars().all()
                await connection.execute(
                    update(work_items).where(work_items.c.id.in_(ids)).values(lease_until=now + lease_s)
                )
                renewed.update(ids)
        return tuple(replace(item, lease_until=now + lease_s) for item in items if item.id in renewed)

    async def require_held(self, items: Sequence[WorkItem]) -> None:
        """Return when all leases of the items hold at this moment. Raises Conflict when one is lost."""
        async with self._database.read() as connection:
            for of_lease in _by_lease(items):
                held = await connection.scalar(select(func.count()).where(_are_held(of_lease)))
                if held != len(of_lease):
                    raise _one_lost(of_lease)

    async def begin_replacing(self, generation_id: str, standing: Mapping[WorkItem, DocumentTerms]) -> None:
        """Keep what the generation counts of documents whose terms the items change, before the index is touched.

        The items, at least one, are of one collection; `standing` has the terms of the chunks that the index holds of
        their documents. Raises Conflict when a lease is lost.
        """
        async with self._database.write() as connection:
            await _lock_collection_of(connection, next(iter(standing)))
            for item in standing:
                await _require_held(connection, item)
            # Of a revision that is applied again the very same is counted, whatever the index came to hold meanwhile.
            counted = await _held_revisions(connection, generation_id, [item.document_id for item in standing])
            new = {item: terms for item, terms in standing.items() if counted.get(item.document_id) != item.revision}
            await remember(connection, generation_id, {item.document_id: terms for item, terms in new.items()})

    async def commit_applied(
        self,
        item: WorkItem,
        *,
        chunk_ids: Mapping[str, Sequence[str]],
        outcome: Outcome,
        now: float,
        own_title: str = "",
        terms: Mapping[str, DocumentTerms] | None = None,
    ) -> None:
        """`commit_together` for one item."""
        await self.commit_together([AppliedItem(item, outcome, chunk_ids, own_title, terms or {})], now=now)

    async def commit_together(self, applied: Sequence[AppliedItem], *, now: float) -> None:
        """Record in one step that the indexes hold the changes of items of one collection, no two of one document.

        All or none: raises Conflict when the lease of one is lost, or when a generation that is kept in step is missing
        from an item because it began during the work: the item is then to be applied to it as well. A transaction for
        32 documents takes a third of the time of 32 transactions.
        """
        collection = applied[0].item.collection
        async with self._database.write() as connection:
            await _lock_collection_of(connection, applied[0].item)
            for outcome, items in _by_outcome(applied):
                await _update_all_held(connection, items, state=ItemState.DONE, outcome=outcome, **NO_LEASE)
            for generation_id in await live_generation_ids(connection, collection):
                await hold_documents(connection, generation_id, [one.held_by(generation_id) for one in applied])
            outcomes = {one.item.document_id: one.outcome for one in applied}
            await take_off_the_list(connection, collection, outcomes, now=now)
            for one in applied:
                if one.own_title:
                    titled = update(documents).where(_is_revision_of(one.item))
                    await connection.execute(titled.values(own_title=one.own_title))
            ended = Counter((one.item.job_id, one.outcome) for one in applied)
            for (job_id, outcome), count in sorted(ended.items()):  # in one order, so that two do not wait in a circle
                await count_outcome(connection, job_id, outcome, now=now, documents=count)
            await advance_applied_sequence(connection, collection)

    async def fail(self, item: WorkItem, *, reason: str, now: float, retry_at: float | None) -> None:
        """Give the item back for another attempt at `retry_at`, or for good when that is None.

        `reason` is a sentence for the user. What the document held before stays as it is, and is again what the
        document is when the change failed for good. Raises Conflict when the lease is lost.
        """
        async with self._database.write() as connection:
            await _lock_collection_of(connection, item)
            if retry_at is not None:
                await _update_held(
                    connection, item, state=ItemState.PENDING, not_before=retry_at, reason=reason, **NO_LEASE
                )
                return
            failed = Outcome.FAILED
            await _update_held(connection, item, state=ItemState.DEAD, outcome=failed, reason=reason, **NO_LEASE)
            # One that a generation holds was applied before, and is what the document is.
            await connection.execute(
                update(documents).where(_is_revision_of(item), ~_is_held_by_a_generation).values(failed=True)
            )
            await count_outcome(connection, item.job_id, failed, now=now)
            await advance_applied_sequence(connection, item.collection)


def _is_revision_of(item: WorkItem) -> ColumnElement[bool]:
    return and_(
        documents.c.collection == item.collection,
        documents.c.id == item.document_id,
        documents.c.revision == item.revision,
    )


def _lease_lost(item: WorkItem) -> Conflict:
    return Conflict(f"the lease on document '{item.document_id}' of '{item.collection}' is lost")


_is_held_by_a_generation = (
    exists()
    .where(
        generations.c.collection == documents.c.collection,
        generation_documents.c.generation_id == generations.c.id,
        generation_documents.c.document_id == documents.c.id,
        generation_documents.c.revision == documents.c.revision,
    )
    .correlate(documents)
)


async def _held_revisions(
    connection: AsyncConnection, generation_id: str, document_ids: Sequence[str]
) -> dict[str, int]:
    """Which revision the generation holds of those documents of which it holds any."""
    query = select(generation_documents.c.document_id, generation_documents.c.revision).where(
        generation_documents.c.generation_id == generation_id, generation_documents.c.document_id.in_(document_ids)
    )
    return {row.document_id: row.revision for row in await connection.execute(query)}


def _one_lost(items: Sequence[WorkItem]) -> Conflict:
    if len(items) == 1:
        return _lease_lost(items[0])
    return Conflict(f"a lease on one of {len(items)} documents of '{items[0].collection}' is lost")


async def _lock_collection_of(connection: AsyncConnection, item: WorkItem) -> None:
    """Take the collection before the item, as accepting and deleting do, so that no two wait for each other."""
    try:
        await lock_collection(connection, item.collection)
    except NotFound:
        raise _lease_lost(item) from None


async def _require_held(connection: AsyncConnection, item: WorkItem) -> None:
    """Raises Conflict unless this very lease still holds the item."""
    if await connection.scalar(select(work_items.c.id).where(_are_held([item]))) is None:
        raise _lease_lost(item)


async def _update_held(connection: AsyncConnection, item: WorkItem, **values: Any) -> None:
    """Change the item if this very lease still holds it. Raises Conflict."""
    held = await connection.execute(update(work_items).where(_are_held([item])).values(**values))
    if held.rowcount == 0:
        raise _lease_lost(item)


def _by_outcome(applied: Sequence[AppliedItem]) -> Iterator[tuple[Outcome, list[WorkItem]]]:
    for outcome in Outcome:
        if items := [one.item for one in applied if one.outcome is outcome]:
            yield outcome, items


async def _update_all_held(connection: AsyncConnection, items: Sequence[WorkItem], **values: Any) -> None:
    """Change the items if all their leases still hold. Raises Conflict."""
    for of_lease in _by_lease(items):
        held = await connection.execute(update(work_items).where(_are_held(of_lease)).values(**values))
        if held.rowcount < len(of_lease):
            raise _one_lost(of_lease)


def _by_lease(items: Sequence[WorkItem]) -> list[list[WorkItem]]:
    """The items, those with one owner and number of attempts together."""
    leases: dict[tuple[str, int], list[WorkItem]] = {}
    for item in items:
        leases.setdefault((item.owner, item.attempts), []).append(item)
    return [leases[lease] for lease in sorted(leases)]


def _are_held(of_lease: Sequence[WorkItem]) -> ColumnElement[bool]:
    """Whether a row is one of these items, of one owner and number of attempts, and still held in that way."""
    return and_(
        work_items.c.id.in_([item.id for item in of_lease]),
        work_items.c.state == ItemState.LEASED,
        work_items.c.lease_owner == of_lease[0].owner,
        work_items.c.attempts == of_lease[0].attempts,
    )


def _item(row: Mapping[Any, Any]) -> WorkItem:
    return WorkItem(
        id=row["id"],
        job_id=row["job_id"],
        collection=row["collection"],
        document_id=row["document_id"],
        action=Action(row["action"]),
        revision=row["revision"],
        attempts=row["attempts"],
        owner=row["lease_owner"],
        lease_until=row["lease_until"],
    )
