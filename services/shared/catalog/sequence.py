"""The change sequence of a collection: who may take the next number, and how far the generations have come."""

from typing import Any

from sqlalchemy import Row, func, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from services.shared.catalog.manifest import GenerationState
from services.shared.catalog.schema import collections, generations, is_unfinished, work_items
from services.shared.runtime.errors import NotFound


async def lock_collection(connection: AsyncConnection, name: str) -> Row[Any]:
    """The collection's row, which nobody else writes until this transaction ends. Raises NotFound."""
    found = await connection.execute(select(collections).where(collections.c.name == name).with_for_update())
    row = found.one_or_none()
    if row is None:
        raise no_such_collection(name)
    return row


async def require_collection(connection: AsyncConnection, name: str) -> None:
    """Raises NotFound when there is no such collection."""
    if await connection.scalar(select(collections.c.name).where(collections.c.name == name)) is None:
        raise no_such_collection(name)


def no_such_collection(name: str) -> NotFound:
    """The error of a name that no collection has."""
    return NotFound(f"collection '{name}' does not exist; GET /v1/collections lists them", field="collection")


async def advance_applied_sequence(connection: AsyncConnection, collection: str) -> None:
    """Record that every change before the oldest unfinished one is done with.

    A generation that is being built is left out: its builder says what it holds.
    """
    oldest_unfinished = (
        select(func.min(work_items.c.revision))
        .where(work_items.c.collection == collection, is_unfinished(work_items))
        .scalar_subquery()
    )
    newest = select(collections.c.sequence).where(collections.c.name == collection).scalar_subquery()
    await connection.execute(
        update(generations)
        .where(generations.c.collection == collection, generations.c.state != GenerationState.BUILDING)
        .values(applied_sequence=func.coalesce(oldest_unfinished - 1, newest))
    )
