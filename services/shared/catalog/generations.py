"""Generations: one serves, the one before it is kept for rollback, others are being built or wait to be removed."""

import hashlib
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Row, and_, delete, insert, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from services.shared.catalog.database import Database
from services.shared.catalog.manifest import Generation, GenerationState, Manifest, generation_of
from services.shared.catalog.schema import building_documents, collections, generation_documents, generations
from services.shared.catalog.sequence import lock_collection
from services.shared.catalog.term_statistics import drop_terms
from services.shared.runtime.errors import Conflict, NotFound


@dataclass(frozen=True, slots=True)
class AppliedDocument:
    """What a generation holds of a document: which revision, as which chunks in their order."""

    revision: int
    chunk_ids: tuple[str, ...]


class Generations:
    """The generations of each collection. The first is made with its collection."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def get(self, generation_id: str) -> Generation:
        """The generation as it is now. Raises NotFound."""
        async with self._database.read() as connection:
            return await _generation(connection, generation_id)

    async def list(self, collection: str) -> tuple[Generation, ...]:
        """All generations of the collection, newest first; () when there is no such collection."""
        query = (
            select(generations)
            .where(generations.c.collection == collection)
            .order_by(generations.c.created_at.desc(), generations.c.id)
        )
        async with self._database.read() as connection:
            return tuple(generation_of(row) for row in await connection.execute(query))

    async def applied(self, generation_id: str, document_id: str) -> AppliedDocument | None:
        """What the generation holds of the document, None when nothing."""
        query = select(generation_documents.c.revision, generation_documents.c.chunk_ids).where(
            generation_documents.c.generation_id == generation_id,
            generation_documents.c.document_id == document_id,
        )
        async with self._database.read() as connection:
            row = (await connection.execute(query)).one_or_none()
        return None if row is None else AppliedDocument(row.revision, tuple(row.chunk_ids))

    async def live(self, collection: str) -> tuple[Generation, ...]:
        """The generations that every change is applied to: active, building, ready, and the previous one."""
        async with self._database.read() as connection:
            ids = await live_generation_ids(connection, collection)
            query = select(generations).where(generations.c.id.in_(ids)).order_by(generations.c.created_at)
            return tuple(generation_of(row) for row in await connection.execute(query))

    async def ids(self) -> tuple[set[str], set[str]]:
        """The ids of all generations of all collections, and those of them that nothing is applied to any more."""
        kept = select(collections.c.previous_generation_id).where(collections.c.previous_generation_id.is_not(None))
        ended = generations.c.state.in_((GenerationState.RETIRED, GenerationState.FAILED))
        query = select(generations.c.id, and_(ended, generations.c.id.not_in(kept)).label("unused"))
        async with self._database.read() as connection:
            rows = (await connection.execute(query)).all()
        return {row.id for row in rows}, {row.id for row in rows if row.unused}

    async def not_optimized(self) -> tuple[Generation, ...]:
        """The generations whose indexes were not optimized since their last change, oldest first."""
        behind = generations.c.optimized_revision.is_distinct_from(generations.c.revision)
        query = select(generations).where(behind, generations.c.state != GenerationState.FAILED)
        async with self._database.read() as connection:
            rows = await connection.execute(query.order_by(generations.c.created_at, generations.c.id))
            return tuple(generation_of(row) for row in rows)

    async def mark_optimized(self, generation_id: str, revision: int) -> None:
        """The index was optimized and held at least this revision before; nothing for a generation that is gone."""
        async with self._database.write() as connection:
            await connection.execute(
                update(generations).where(generations.c.id == generation_id).values(optimized_revision=revision)
            )

    async def promote(self, collection: str, generation_id: str) -> None:
        """Make a ready generation the active one and keep the one it replaces as the previous one.

        Raises NotFound, Conflict when it is not ready or does not hold the same revisions of the same documents.
        """
        async with self._database.write() as connection:
            row = await lock_collection(connection, collection)
            await _require(connection, generation_id, GenerationState.READY, collection)
            serving, candidate = [await _digest(connection, id_) for id_ in (row.active_generation_id, generation_id)]
            if serving != candidate:
                raise Conflict(
                    f"generation '{generation_id}' holds {candidate[0]} documents with digest {candidate[1][:12]}, "
                    f"the serving one {serving[0]} with {serving[1][:12]}; build another"
                )
            await _switch(connection, row, to=generation_id)

    async def roll_back(self, collection: str) -> None:
        """Make the previous generation the active one and the active one the previous.

        Raises NotFound, Conflict when there is no previous one.
        """
        async with self._database.write() as connection:
            row = await lock_collection(connection, collection)
            if row.previous_generation_id is None:
                raise Conflict(f"collection '{collection}' has no previous generation to go back to")
            await _switch(connection, row, to=row.previous_generation_id)

    async def remove(self, generation_id: str) -> None:
        """Forget a generation that nothing is applied to any more; its index is dropped afterwards.

        Raises NotFound, Conflict when it is still kept in step.
        """
        async with self._database.read() as connection:
            await _require_unused(connection, await _generation(connection, generation_id))
        await drop_terms(self._database, [generation_id])
        async with self._database.write() as connection:
            generation = await _generation(connection, generation_id)
            await lock_collection(connection, generation.collection)
            await _require_unused(connection, generation)
            await connection.execute(delete(generations).where(generations.c.id == generation_id))


async def _require_unused(connection: AsyncConnection, generation: Generation) -> None:
    if generation.id in await live_generation_ids(connection, generation.collection):
        raise Conflict(f"generation '{generation.id}' is in use")


async def insert_generation(
    connection: AsyncConnection,
    collection: str,
    *,
    generation_id: str,
    state: GenerationState,
    manifest: Manifest,
    now: float,
    job_id: str | None = None,
) -> Generation:
    """A new, empty generation of the collection."""
    generation = Generation(
        id=generation_id,
        collection=collection,
        state=state,
        manifest=manifest,
        revision=0,
        applied_sequence=0,
        documents=0,
        chunks=0,
        created_at=now,
        optimized_revision=0,
    )
    await connection.execute(
        insert(generations).values(
            id=generation.id,
            collection=generation.collection,
            state=generation.state,
            manifest=generation.manifest.as_json(),
            revision=generation.revision,
            applied_sequence=generation.applied_sequence,
            documents=generation.documents,
            chunks=generation.chunks,
            counted_revision=generation.revision,
            optimized_revision=generation.optimized_revision,
            created_at=generation.created_at,
            job_id=job_id,
        )
    )
    return generation


async def live_generation_ids(connection: AsyncConnection, collection: str) -> tuple[str, ...]:
    """The generations that every change is applied to, in the order of their ids."""
    kept = select(collections.c.previous_generation_id).where(collections.c.name == collection)
    states = (GenerationState.BUILDING, GenerationState.READY, GenerationState.ACTIVE)
    query = (
        select(generations.c.id)
        .where(
            generations.c.collection == collection,
            generations.c.state.in_(states) | generations.c.id.in_(kept),
        )
        .order_by(generations.c.id)
    )
    return tuple((await connection.execute(query)).scalars())


async def _switch(connection: AsyncConnection, collection: Row[Any], *, to: str) -> None:
    """Swap what serves in one step; the one that served stays as the previous generation."""
    await set_state(connection, collection.active_generation_id, GenerationState.RETIRED)
    await set_state(connection, to, GenerationState.ACTIVE)
    await connection.execute(
        update(collections)
        .where(collections.c.name == collection.name)
        .values(active_generation_id=to, previous_generation_id=collection.active_generation_id)
    )


async def set_state(connection: AsyncConnection, generation_id: str, state: GenerationState) -> None:
    """Let the generation be in this state."""
    await connection.execute(update(generations).where(generations.c.id == generation_id).values(state=state))


async def fail_builds(connection: AsyncConnection, collection: str, *, job_id: str | None = None) -> None:
    """Fail what is being built of the collection, or only what `job_id` builds; changes pass it by from now on."""
    building = and_(generations.c.collection == collection, generations.c.state == GenerationState.BUILDING)
    if job_id is not None:
        building = and_(building, generations.c.job_id == job_id)
    ids = (await connection.execute(select(generations.c.id).where(building))).scalars().all()
    await connection.execute(delete(building_documents).where(building_documents.c.generation_id.in_(ids)))
    await connection.execute(update(generations).where(generations.c.id.in_(ids)).values(state=GenerationState.FAILED))


async def _digest(connection: AsyncConnection, generation_id: str) -> tuple[int, str]:
    """How many documents the generation holds, and the SHA-256 over their ids and revisions in the order of the ids."""
    rows = await connection.stream(
        select(generation_documents.c.document_id, generation_documents.c.revision)
        .where(generation_documents.c.generation_id == generation_id)
        .order_by(generation_documents.c.document_id)
    )
    count, digest = 0, hashlib.sha256()
    async for row in rows:
        count += 1
        digest.update(f"{row.document_id}\n{row.revision}\n".encode())
    return count, digest.hexdigest()


async def _generation(connection: AsyncConnection, generation_id: str) -> Generation:
    row = (await connection.execute(select(generations).where(generations.c.id == generation_id))).one_or_none()
    if row is None:
        raise NotFound(f"generation '{generation_id}' does not exist", field="generation_id")
    return generation_of(row)


async def _require(
    connection: AsyncConnection, generation_id: str, state: GenerationState, collection: str | None = None
) -> Generation:
    generation = await _generation(connection, generation_id)
    if collection not in (None, generation.collection):
        raise NotFound(f"collection '{collection}' has no generation '{generation_id}'", field="generation_id")
    if generation.state is not state:
        raise Conflict(f"generation '{generation_id}' is {generation.state}, not {state}")
    return generation
