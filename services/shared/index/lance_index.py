"""The embedded engine: a folder of LanceDB tables, one per generation, with no server.

A table is opened for every call (0.1 ms): so each sees the newest version, whoever wrote it, and a generation that was
dropped or made anew elsewhere. Vector search is exact below `EXACT_BELOW` rows and approximate from there on. LanceDB's
BM25 is fixed at k1 = 1.2, b = 0.75, idf = ln(1 + (N - df + 0.5) / (df + 0.5)).
"""

import asyncio
from collections import defaultdict
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Self, TypeVar

import lancedb
import numpy as np
import pyarrow as pa
from lancedb.index import FTS
from lancedb.query import AsyncFTSQuery, AsyncVectorQuery, MatchQuery
from lancedb.table import AsyncTable

from services.shared.index import lance_rows, lance_upkeep, lance_vector_index
from services.shared.index.chunk import ChunkKey, IndexedChunk, LegHit, StoredChunk, Vector
from services.shared.index.fields import FieldType, is_declarable
from services.shared.index.filters import Filter
from services.shared.index.lance_filter import one_of, to_sql
from services.shared.index.lance_vector_index import EXACT_BELOW
from services.shared.index.precision import Precision
from services.shared.runtime.allocator import give_back_freed_memory
from services.shared.runtime.errors import AlreadyExists, DependencyUnavailable, InvalidInput, NotFound

# Whitespace parts the tokens, and nothing is done to them: the analyzer has done it all.
_KEYWORD_INDEX = FTS(
    base_tokenizer="whitespace",
    max_token_length=None,
    lower_case=False,
    stem=False,
    remove_stop_words=False,
    ascii_folding=False,
)
# One statement with 1,000 ids is 40 KB of SQL and takes 2 ms to read.
_IDS_PER_STATEMENT = 1_000
# How many more ids and scores are read to order a tie that straddles the cut by chunk id.
_TIE_DEPTH = 1_000
_ROWS_PER_SCAN = 5_000
# Lance keeps what each version of a table is made of, and all that it read of indices, up to these bounds; its own are
# 1 GiB and 6 GiB. The second holds the indices of 250,000 chunks of 768 dimensions.
_METADATA_CACHE_BYTES = 32 * 2**20
_INDEX_CACHE_BYTES = 512 * 2**20

DEFAULT_LISTS = 128
"""How many lists of vectors, of at least 256, an approximate search looks through."""

_LegQuery = TypeVar("_LegQuery", AsyncFTSQuery, AsyncVectorQuery)


class LanceIndex:
    """`Index` on a folder. Several processes may hold one open; only one may write to a generation at a time."""

    def __init__(self, connection: lancedb.AsyncConnection, folder: Path, *, effort: int) -> None:
        self._connection = connection
        self._folder = folder
        self._effort = effort
        # Writes follow one another, because Lance would try again whichever commits second.
        self._writing: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)
        # `optimize` goes on beside writes, but what changes or ends the table as such waits for it.
        self._optimizing: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)
        self._changed_rows: defaultdict[str, int] = defaultdict(int)

    @classmethod
    async def open(cls, folder: Path, *, effort: int = DEFAULT_LISTS) -> Self:
        """The index in `folder`, which is made when it is not there.

        `effort` is how many lists of vectors, of at least 256, an approximate search looks through: 64 find 0.97 of the
        nearest 10 among 100,000 chunks, 128 find 0.996, and a search takes the longer.

        Raises:
            DependencyUnavailable: the folder can neither be read nor made.
        """
        with _lance_errors():
            return cls(await _connect(folder), folder, effort=effort)

    async def close(self) -> None:
        self._connection.close()  # type: ignore[no-untyped-call]

    async def create_generation(
        self,
        generation_id: str,
        dimensions: int,
        fields: Mapping[str, FieldType],
        *,
        precision: Precision = Precision.FULL,
    ) -> None:
        if dimensions < 1:
            raise InvalidInput("A generation needs at least one dimension.", field="dimensions")
        for name in fields:
            if not is_declarable(name):
                raise InvalidInput(f"{name!r} cannot be the name of a declared field.", field=f"fields.{name}")
        async with self._optimizing[generation_id], self._writing[generation_id]:
            try:
                table = await self._table(generation_id)
            except NotFound:
                table = await self._new_table(generation_id, lance_rows.schema_of(dimensions, fields, precision))
            with _lance_errors():
                await _add_missing_fields(generation_id, table, dimensions, fields, precision)
                # The index is made while the table is empty, and here because a crash may have come between.
                if not await table.list_indices():
                    await table.create_index("analysed", config=_KEYWORD_INDEX)

    async def drop_generation(self, generation_id: str) -> None:
        async with self._optimizing[generation_id], self._writing[generation_id]:
            with _lance_errors():
                await self._connection.drop_table(generation_id, ignore_missing=True)
        self._changed_rows.pop(generation_id, None)

    async def generations(self) -> list[str]:
        with _lance_errors():
            return sorted((await self._connection.list_tables()).tables)

    async def upsert(self, generation_id: str, chunks: Sequence[IndexedChunk]) -> None:
        # LanceDB would insert both of two new rows with one id.
        last = {chunk.chunk_id: chunk for chunk in chunks}
        if not last:
            return
        async with self._writing[generation_id]:
            table = await self._table(generation_id)
            with _lance_errors():
                rows = lance_rows.to_rows(list(last.values()), await table.schema())
                merge = table.merge_insert("chunk_id").when_matched_update_all().when_not_matched_insert_all()
                await merge.execute(rows)
        self._changed_rows[generation_id] += len(last)

    async def delete(self, generation_id: str, chunk_ids: Iterable[str]) -> None:
        async with self._writing[generation_id]:
            table = await self._table(generation_id)
            with _lance_errors():
                for condition, ids in _id_conditions(chunk_ids):
                    await table.delete(condition)
                    self._changed_rows[generation_id] += len(ids)

    async def forget_interrupted(self, generation_id: str, chunk_ids: Iterable[str]) -> None:
        """Nothing: what is written becomes a version of the table, or never was there."""

    async def optimize(self, generation_id: str) -> None:
        async with self._optimizing[generation_id]:
            table = await self._table(generation_id)
            with _lance_errors():
                folds_in = await lance_upkeep.is_worth_it(table, self._changed_rows[generation_id])
                if not folds_in and not await lance_upkeep.lacks_vector_index(table):
                    return
                # A connection for this once: what it reads of indices that it replaces goes with it.
                connection = await _connect(self._folder)
                try:
                    if folds_in:
                        self._changed_rows[generation_id] = 0
                        open_table = partial(connection.open_table, generation_id)
                        await lance_upkeep.fold_in(open_table, self._writing[generation_id])
                    await lance_upkeep.keep_vector_index(await connection.open_table(generation_id))
                finally:
                    connection.close()  # type: ignore[no-untyped-call]
            await asyncio.to_thread(give_back_freed_memory)

    async def keyword(
        self, generation_id: str, tokens: Sequence[str], *, filter: Filter | None, limit: int, vectors: bool = True
    ) -> list[LegHit]:
        table = await self._table(generation_id)
        if not tokens or limit < 1:
            return []
        # As a MatchQuery, because LanceDB reads quotes around a plain string as a phrase.
        words = MatchQuery(" ".join(tokens), "analysed")  # type: ignore[call-arg]  # its defaults are not seen
        with _lance_errors():
            query = await _filtered(table.query().nearest_to_text(words), table, filter)
            return await _best(query, table, limit, _columns(vectors), "_score")

    async def nearest(
        self, generation_id: str, vector: Vector, *, filter: Filter | None, limit: int, vectors: bool = True
    ) -> list[LegHit]:
        table = await self._table(generation_id)
        dimensions = lance_rows.dimensions_of(await table.schema())
        if vector.shape != (dimensions,):
            raise InvalidInput(f"A vector of shape {vector.shape} cannot be compared with ({dimensions},).")
        # LanceDB finds nothing for either, without a word.
        if not np.isfinite(vector).all() or not vector.any():
            raise InvalidInput("A vector to search with needs finite values and a direction.")
        if limit < 1:
            return []
        with _lance_errors():
            query = table.query().nearest_to(vector).column(lance_rows.VECTORS).distance_type("cosine")
            query = await _filtered(query, table, filter)
            share = await _approximate_share(table, filter)
            if share is None:
                query = query.bypass_vector_index()
            elif share == 0:
                return []
            else:
                query = lance_vector_index.approximate(query, effort=self._effort, share=share, limit=limit)
            return await _best(query, table, limit, _columns(vectors), "_distance")

    async def fetch(self, generation_id: str, chunk_ids: Sequence[str], *, vectors: bool) -> list[StoredChunk]:
        table = await self._table(generation_id)
        with _lance_errors():
            found = await _chunks_by_id(table, chunk_ids, _columns(vectors))
        return [found[chunk_id] for chunk_id in chunk_ids if chunk_id in found]

    async def document_chunks(
        self, generation_id: str, document_id: str, *, vectors: bool = False
    ) -> list[StoredChunk]:
        return (await self.chunks_of(generation_id, [document_id], vectors=vectors))[document_id]

    async def chunks_of(
        self, generation_id: str, document_ids: Sequence[str], *, vectors: bool = False
    ) -> dict[str, list[StoredChunk]]:
        table = await self._table(generation_id)
        found: dict[str, list[StoredChunk]] = {document_id: [] for document_id in document_ids}
        for start in range(0, len(document_ids), _IDS_PER_STATEMENT):
            some = document_ids[start : start + _IDS_PER_STATEMENT]
            with _lance_errors():
                query = table.query().where(one_of("document_id", some)).select(_columns(vectors))
                rows = await query.to_arrow()
            for chunk in lance_rows.to_chunks(rows):
                found[chunk.document_id].append(chunk)
        return {
            document_id: sorted(chunks, key=lambda chunk: (chunk.ordinal, chunk.chunk_id))
            for document_id, chunks in found.items()
        }

    async def count(self, generation_id: str, filter: Filter | None = None) -> int:
        table = await self._table(generation_id)
        with _lance_errors():
            condition = None if filter is None else to_sql(filter, (await table.schema()).names)
            return await table.count_rows(condition)

    async def existing(self, generation_id: str, chunk_ids: Iterable[str]) -> set[str]:
        table = await self._table(generation_id)
        found: set[str] = set()
        with _lance_errors():
            for condition, _ in _id_conditions(chunk_ids):
                rows = await table.query().where(condition).select(["chunk_id"]).to_arrow()
                found.update(rows["chunk_id"].to_pylist())
        return found

    async def scan(self, generation_id: str) -> AsyncIterator[list[ChunkKey]]:
        table = await self._table(generation_id)
        with _lance_errors():
            rows = table.query().select(["chunk_id", "document_id", "revision"])
            batches = await rows.to_batches(max_batch_length=_ROWS_PER_SCAN)
            async for batch in batches:
                if batch.num_rows:
                    yield [ChunkKey(*row.values()) for row in batch.to_pylist()]

    async def _table(self, generation_id: str) -> AsyncTable:
        with _lance_errors():
            try:
                return await self._connection.open_table(generation_id)
            except ValueError:  # for a missing table, and for a name that no table can have
                raise NotFound(f"There is no generation {generation_id!r} in the index.") from None

    async def _new_table(self, generation_id: str, schema: pa.Schema) -> AsyncTable:
        with _lance_errors():
            try:
                return await self._connection.create_table(generation_id, schema=schema)
            except ValueError as error:
                raise InvalidInput(f"{generation_id!r} cannot be a generation's id.", field="generation_id") from error


@contextmanager
def _lance_errors() -> Iterator[None]:
    """LanceDB raises RuntimeError for whatever goes wrong below it: files, conflicting commits, a closed connection."""
    try:
        yield
    except (RuntimeError, OSError) as error:
        raise DependencyUnavailable("The index cannot be read or written at the moment.") from error


async def _connect(folder: Path) -> lancedb.AsyncConnection:
    session = lancedb.Session(
        index_cache_size_bytes=_INDEX_CACHE_BYTES, metadata_cache_size_bytes=_METADATA_CACHE_BYTES
    )
    return await lancedb.connect_async(folder, session=session)


async def _add_missing_fields(
    generation_id: str,
    table: AsyncTable,
    dimensions: int,
    fields: Mapping[str, FieldType],
    precision: Precision,
) -> None:
    schema = await table.schema()
    if lance_rows.dimensions_of(schema) != dimensions:
        raise AlreadyExists(f"Generation {generation_id!r} is there with other dimensions than {dimensions}.")
    if lance_rows.precision_of(schema) != precision:
        raise AlreadyExists(f"Generation {generation_id!r} is there with another precision than {precision}.")
    declared = lance_rows.declared_fields(schema)
    for name, field_type in fields.items():
        if declared.get(name, field_type) != field_type:
            raise AlreadyExists(f"Generation {generation_id!r} has field {name} with type {declared[name]}.")
    missing = {name: field_type for name, field_type in fields.items() if name not in declared}
    if missing:
        await table.add_columns(lance_rows.declared_columns(missing))


def _columns(vectors: bool) -> list[str]:
    return [*lance_rows.COLUMNS, lance_rows.VECTORS] if vectors else [*lance_rows.COLUMNS]


def _id_conditions(chunk_ids: Iterable[str]) -> list[tuple[str, list[str]]]:
    """Conditions that together are true for these ids, each with those that are its own."""
    ids = list(chunk_ids)
    portions = [ids[start : start + _IDS_PER_STATEMENT] for start in range(0, len(ids), _IDS_PER_STATEMENT)]
    return [(one_of("chunk_id", portion), portion) for portion in portions]


async def _filtered(query: _LegQuery, table: AsyncTable, filter: Filter | None) -> _LegQuery:
    """The query with the filter applied inside it, before its limit."""
    return query if filter is None else query.where(to_sql(filter, (await table.schema()).names))


async def _approximate_share(table: AsyncTable, filter: Filter | None) -> float | None:
    """The share of the rows that a filter leaves to an approximate search; None where searches are exact."""
    rows = await table.count_rows()
    if rows < EXACT_BELOW or await lance_vector_index.vector_index(table) is None:
        return None
    if filter is None:
        return 1.0
    return await table.count_rows(to_sql(filter, (await table.schema()).names)) / rows


async def _best(query: _LegQuery, table: AsyncTable, limit: int, columns: list[str], score_column: str) -> list[LegHit]:
    """The first `limit` hits by score descending, then chunk id; LanceDB leaves open which of equals it returns."""
    rows = await query.select([*columns, score_column]).limit(limit + 1).to_arrow()
    ranked = _ranked(rows, score_column)
    if len(ranked) > limit and ranked[limit - 1][1] == ranked[limit][1]:
        tied = await query.select(["chunk_id", score_column]).limit(limit + _TIE_DEPTH).to_arrow()
        ranked = _ranked(tied, score_column)
    read = lance_rows.ReadRows(rows)
    places = {chunk_id: place for place, chunk_id in enumerate(rows["chunk_id"].to_pylist())}
    # The table stays at the version at which it was opened, so all of these are there.
    others = await _chunks_by_id(table, [key for key, _ in ranked[:limit] if key not in places], columns)
    return [
        read.hit(places[key], score) if key in places else LegHit.of(others[key], score)
        for key, score in ranked[:limit]
    ]


def _ranked(rows: pa.Table, score_column: str) -> list[tuple[str, float]]:
    """Chunk ids with their scores, in the order of hits."""
    scores = rows[score_column].to_numpy()
    if score_column == "_distance":
        scores = np.clip(1 - scores, -1, 1)
    return sorted(zip(rows["chunk_id"].to_pylist(), scores.tolist(), strict=True), key=lambda hit: (-hit[1], hit[0]))


async def _chunks_by_id(table: AsyncTable, chunk_ids: Iterable[str], columns: list[str]) -> dict[str, StoredChunk]:
    found: dict[str, StoredChunk] = {}
    for condition, _ in _id_conditions(chunk_ids):
        rows = await table.query().where(condition).select(columns).to_arrow()
        found |= {chunk.chunk_id: chunk for chunk in lance_rows.to_chunks(rows)}
    return found
