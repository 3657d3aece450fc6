"""Collections: created with their first generation, read together with the one that serves, deleted whole."""

from dataclasses import dataclass, replace
from typing import Any

from sqlalchemy import Row, delete, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from services.shared.catalog.database import Database, insert_if_absent
from services.shared.catalog.declaration import Declaration, declare
from services.shared.catalog.generations import insert_generation
from services.shared.catalog.jobs import cancel_jobs_of_collection
from services.shared.catalog.manifest import Generation, GenerationState, Manifest, generation_of
from services.shared.catalog.profiles import Overrides, Profile
from services.shared.catalog.schema import collections, generations
from services.shared.catalog.sequence import lock_collection, no_such_collection, require_collection
from services.shared.catalog.term_statistics import drop_terms
from services.shared.index.fields import FieldType
from services.shared.runtime.errors import AlreadyExists


@dataclass(frozen=True, slots=True)
class Collection:
    """A collection and the generation that serves it, both as of one moment."""

    declaration: Declaration
    active: Generation
    previous_generation_id: str | None
    sequence: int
    created_at: float

    @property
    def lag(self) -> int:
        """Accepted changes that the active generation may not have yet; 0 when it has them all."""
        return self.sequence - self.active.applied_sequence


_WITH_ACTIVE = select(collections, generations).join_from(
    collections, generations, generations.c.id == collections.c.active_generation_id
)


class Collections:
    """The collections there are."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def create(
        self, declaration: Declaration, *, generation_id: str, manifest: Manifest, now: float
    ) -> Collection:
        """The collection with an empty active generation, or, declared in the same way before, as it stands.

        A caller that made the index of `generation_id` first sees from `active.id` whether it is the one in use.
        Raises AlreadyExists when it was declared otherwise.
        """
        async with self._database.write() as connection:
            row = {
                "name": declaration.name,
                "profile": declaration.profile,
                "locale": declaration.locale,
                "fields": dict(declaration.fields),
                "settings": dict(declaration.settings),
                "sequence": 0,
                "active_generation_id": generation_id,
                "created_at": now,
            }
            if not await insert_if_absent(connection, collections, row):
                await lock_collection(connection, declaration.name)
                existing = await _find(connection, declaration.name)
                if existing is None:
                    raise no_such_collection(declaration.name)
                _require_same(existing.declaration, declaration)
                return existing
            active = await insert_generation(
                connection,
                declaration.name,
                generation_id=generation_id,
                state=GenerationState.ACTIVE,
                manifest=manifest,
                now=now,
            )
        return Collection(declaration, active=active, previous_generation_id=None, sequence=0, created_at=now)

    async def get(self, name: str) -> Collection:
        """The collection and what serves it, in one statement. Raises NotFound."""
        async with self._database.read() as connection:
            collection = await _find(connection, name)
        if collection is None:
            raise no_such_collection(name)
        return collection

    async def list(self) -> tuple[Collection, ...]:
        """All collections by name."""
        async with self._database.read() as connection:
            rows = await connection.execute(_WITH_ACTIVE.order_by(collections.c.name))
            return tuple(_collection(row) for row in rows)

    async def replace_settings(self, name: str, settings: Overrides) -> Collection:
        """The collection with `settings` as its only overrides. Raises NotFound, InvalidInput as `declare` does."""
        async with self._database.write() as connection:
            await lock_collection(connection, name)
            before = await _find(connection, name)
            if before is None:
                raise no_such_collection(name)
            declaration = declare(
                name,
                profile=before.declaration.profile,
                locale=before.declaration.locale,
                fields=before.declaration.fields,
                settings=settings,
            )
            await connection.execute(
                update(collections).where(collections.c.name == name).values(settings=dict(declaration.settings))
            )
        return replace(before, declaration=declaration)

    async def delete(self, name: str, *, now: float) -> tuple[str, ...]:
        """Forget the collection and cancel what it waits for; the ids of its generations, whose indexes are to go.

        Raises NotFound.
        """
        of_collection = select(generations.c.id).where(generations.c.collection == name)
        async with self._database.read() as connection:
            await require_collection(connection, name)
            counted = (await connection.execute(of_collection)).scalars().all()
        await drop_terms(self._database, counted)
        async with self._database.write() as connection:
            await lock_collection(connection, name)
            ids = (await connection.execute(of_collection.order_by(generations.c.id))).scalars().all()
            await cancel_jobs_of_collection(connection, name, now=now)
            await connection.execute(delete(collections).where(collections.c.name == name))
        return tuple(ids)


async def _find(connection: AsyncConnection, name: str) -> Collection | None:
    row = (await connection.execute(_WITH_ACTIVE.where(collections.c.name == name))).one_or_none()
    return None if row is None else _collection(row)


def _require_same(existing: Declaration, wanted: Declaration) -> None:
    for part in ("profile", "locale", "fields", "settings"):
        if getattr(existing, part) != getattr(wanted, part):
            raise AlreadyExists(f"collection '{existing.name}' exists with other {part}", field=part)


def _collection(row: Row[Any]) -> Collection:
    values = row._mapping
    columns = collections.c
    return Collection(
        declaration=Declaration(
            name=values[columns.name],
            profile=Profile(values[columns.profile]),
            locale=values[columns.locale],
            fields={name: FieldType(kind) for name, kind in values[columns.fields].items()},
            settings=values[columns.settings],
        ),
        active=generation_of(row),
        previous_generation_id=values[columns.previous_generation_id],
        sequence=values[columns.sequence],
        created_at=values[columns.created_at],
    )
