"""The approximate vector index that a large table has: when it is built anew, and how far a search looks in it.

Kind: inverted lists of vectors in 8-bit integers (IVF_SQ). What else LanceDB 0.40 offers on lists of vectors took seven
times as long to build (graphs, product quantisation) or needed four times the candidates (one bit per dimension); the
figures are in docs/decisions/embedded-index.md. What the index finds is compared once more by the vectors themselves,
for its own distances are wrong by up to 0.75.
"""

import math

from lancedb.index import IndexConfig, IvfSq
from lancedb.query import AsyncVectorQuery
from lancedb.table import AsyncTable

from services.shared.index.lance_rows import VECTORS

EXACT_BELOW = 20_000
"""Rows from which on searches are approximate. An exact search of so many takes about 25 ms."""

# Half of 256 lists find 0.996 of the nearest 10 among 100,000 chunks; lists grow with the table, from some size on
# their number does too.
_LISTS = 256
# Fresh rows are a segment of their own each time that they are folded in, and each costs a search 0.2 ms.
_MOST_SEGMENTS = 10
# At least so many are compared by their own vectors: of 100 wanted, 0.995 are found, of exactly 100 compared 0.987.
_COMPARED = 150


async def vector_index(table: AsyncTable) -> IndexConfig | None:
    """The vector index of the table, if it has one; asking takes 0.1 ms."""
    return next((index for index in await table.list_indices() if index.columns == [VECTORS]), None)


def is_due(rows: int, index: IndexConfig | None) -> bool:
    """Whether a table of so many rows should have its vector index built, for the first time or anew."""
    return rows >= EXACT_BELOW and (index is None or (index.num_segments or 0) > _MOST_SEGMENTS)


async def build(table: AsyncTable, rows: int) -> None:
    """Build the index for a table of so many rows; reads and writes go on meanwhile."""
    lists = max(_LISTS, math.isqrt(rows) // 2)
    config = IvfSq(distance_type="cosine", num_partitions=lists)
    await table.create_index(VECTORS, config=config)  # type: ignore[arg-type]  # IvfSq is left out of its types


def approximate(query: AsyncVectorQuery, *, effort: int, share: float, limit: int) -> AsyncVectorQuery:
    """The query through the index: in the nearest `effort` lists, more of them when a filter leaves but a `share`.

    So the number of vectors that are compared stays the same, and of a small share all are.
    """
    return query.nprobes(math.ceil(effort / share)).refine_factor(math.ceil(_COMPARED / limit))
