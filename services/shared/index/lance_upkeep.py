"""What keeps a table fast: compaction, fresh rows in its indices, its vector index; beside writes if Lance lets it."""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import timedelta

from lancedb.table import AsyncTable

from services.shared.index import lance_vector_index
from services.shared.index.lance_vector_index import EXACT_BELOW

# Versions older than this are removed with their files. A reader needs its version for one query only.
_KEEP_VERSIONS = timedelta(minutes=5)
# Folding in writes the whole keyword index again, 1 s of a core at 10,000 chunks. Below this share of changed rows
# a large table is left alone.
_WORTH_FOLDING_IN = 0.005
_ATTEMPTS_BESIDE_WRITES = 3
_CONFLICT = "commit conflict"


async def is_worth_it(table: AsyncTable, changed_rows: int) -> bool:
    """Whether enough has changed since the last time; `changed_rows` are those that this process knows of."""
    rows = await table.count_rows()
    unindexed = [index.num_unindexed_rows or 0 for index in await table.list_indices()]
    return rows < EXACT_BELOW or max([changed_rows, *unindexed]) >= _WORTH_FOLDING_IN * rows


async def fold_in(open_table: Callable[[], Awaitable[AsyncTable]], writing: asyncio.Lock) -> None:
    """Compact the table and bring its indices up to date.

    Beside writes, which Lance refuses when one of them replaced or deleted rows that were being compacted; after some
    attempts in front of them, under `writing`.
    """
    for _ in range(_ATTEMPTS_BESIDE_WRITES):
        try:
            await (await open_table()).optimize(cleanup_older_than=_KEEP_VERSIONS)
        except RuntimeError as error:
            if _CONFLICT not in str(error):
                raise
        else:
            return
    async with writing:
        await (await open_table()).optimize(cleanup_older_than=_KEEP_VERSIONS)


async def lacks_vector_index(table: AsyncTable) -> bool:
    """Whether the vector index is due to be built."""
    return lance_vector_index.is_due(await table.count_rows(), await lance_vector_index.vector_index(table))


async def keep_vector_index(table: AsyncTable) -> None:
    """Build the vector index where it is due. Writes go on meanwhile; what they bring is searched beside it."""
    if await lacks_vector_index(table):
        await lance_vector_index.build(table, await table.count_rows())
