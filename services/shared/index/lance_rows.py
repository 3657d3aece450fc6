"""A chunk as a row of a LanceDB table, and back.

One row per chunk: the windows' vectors are a list in it, which LanceDB searches by the best of them. So a chunk is
found once, its keyword text is stored and counted once, and replacing it is one atomic write.
"""

import json
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa

from services.shared.index.checked_chunk import checked_vectors, comparable_metadata
from services.shared.index.chunk import IndexedChunk, LegHit, Matrix, StoredChunk
from services.shared.index.fields import FieldType, start_of_period
from services.shared.index.lance_filter import column_of
from services.shared.index.precision import Precision

VECTORS = "vectors"

_ARROW_TYPES: Mapping[FieldType, pa.DataType] = {
    FieldType.KEYWORD: pa.string(),
    FieldType.INTEGER: pa.int64(),
    FieldType.NUMBER: pa.float64(),
    FieldType.DATE: pa.string(),
    FieldType.BOOLEAN: pa.bool_(),
}
_STORED = pa.schema(
    [
        pa.field("chunk_id", pa.string(), nullable=False),
        pa.field("document_id", pa.string(), nullable=False),
        pa.field("revision", pa.int64(), nullable=False),
        pa.field("ordinal", pa.int32(), nullable=False),
        pa.field("title", pa.string()),
        pa.field("uri", pa.string()),
        pa.field("locale", pa.string()),
        pa.field("date", pa.string()),
        pa.field("heading_path", pa.list_(pa.string()), nullable=False),
        pa.field("pages", pa.list_(pa.int32()), nullable=False),
        pa.field("text", pa.string(), nullable=False),
        pa.field("context", pa.string(), nullable=False),
        pa.field("start", pa.int32(), nullable=False),
        pa.field("end", pa.int32(), nullable=False),
        pa.field("tokens", pa.int32(), nullable=False),
        pa.field("analysed", pa.string(), nullable=False),
        pa.field("metadata", pa.string(), nullable=False),
    ]
)
COLUMNS: tuple[str, ...] = tuple(_STORED.names)
"""What a chunk is read back from, its vectors apart."""

_TYPE_KEY = b"field_type"


def schema_of(dimensions: int, fields: Mapping[str, FieldType], precision: Precision = Precision.FULL) -> pa.Schema:
    """The columns of a generation: the chunk's own, then those that only filters read."""
    number = pa.float32() if precision is Precision.FULL else pa.float16()
    vectors = pa.field(VECTORS, pa.list_(pa.list_(number, dimensions)), nullable=False)
    return pa.schema([*_STORED, vectors, pa.field("date_start", pa.string()), *declared_columns(fields)])


def declared_columns(fields: Mapping[str, FieldType]) -> pa.Schema:
    """A nullable column for each declared field, that remembers the field's type."""
    return pa.schema(
        [
            pa.field(column_of(name), _ARROW_TYPES[declared], metadata={_TYPE_KEY: declared.encode()})
            for name, declared in fields.items()
        ]
    )


def dimensions_of(schema: pa.Schema) -> int:
    """The length of a vector in a table with this schema."""
    return int(schema.field(VECTORS).type.value_type.list_size)


def precision_of(schema: pa.Schema) -> Precision:
    """How exactly a table with this schema keeps vectors."""
    return Precision.FULL if schema.field(VECTORS).type.value_type.value_type == pa.float32() else Precision.COMPACT


def declared_fields(schema: pa.Schema) -> dict[str, FieldType]:
    """The declared fields of a table with this schema."""
    return {
        column.name.removeprefix("m_"): FieldType(column.metadata[_TYPE_KEY].decode())
        for column in schema
        if column.metadata and _TYPE_KEY in column.metadata
    }


def to_rows(chunks: Sequence[IndexedChunk], schema: pa.Schema) -> pa.Table:
    """The chunks as rows for a table with this schema.

    Raises:
        InvalidInput: as `Index.upsert`.
    """
    columns: dict[str, Any] = {name: [getattr(chunk, name) for chunk in chunks] for name in COLUMNS}
    for name in ("title", "uri", "locale", "date"):
        columns[name] = [value or None for value in columns[name]]
    columns["metadata"] = [json.dumps(dict(chunk.metadata), ensure_ascii=False) for chunk in chunks]
    columns["date_start"] = [start_of_period(chunk.date) for chunk in chunks]
    columns[VECTORS] = _vector_lists(chunks, dimensions_of(schema), precision_of(schema))
    for name, declared in declared_fields(schema).items():
        columns[column_of(name)] = [comparable_metadata(chunk, name, declared) for chunk in chunks]
    return pa.table(columns, schema=schema)


class ReadRows:
    """Rows that brought `COLUMNS`, with or without vectors. Columns are read at once, a chunk when it is asked for."""

    def __init__(self, rows: pa.Table) -> None:
        self._columns: dict[str, list[Any]] = {name: rows[name].to_pylist() for name in COLUMNS}
        self._vectors = _matrices(rows) if VECTORS in rows.column_names else None

    def __len__(self) -> int:
        return len(self._columns["chunk_id"])

    def hit(self, place: int, score: float) -> LegHit:
        """The row at `place`, from 0, as a hit."""
        chunk_id, document_id, revision = (
            self._columns[name][place] for name in ("chunk_id", "document_id", "revision")
        )
        return LegHit(chunk_id, document_id, revision, score, partial(self.chunk, place))

    def chunk(self, place: int) -> StoredChunk:
        """The chunk at `place`, from 0."""
        row = {name: values[place] for name, values in self._columns.items()}
        for name in ("title", "uri", "locale", "date"):
            row[name] = row[name] or ""
        row["heading_path"], row["pages"] = tuple(row["heading_path"]), tuple(row["pages"])
        row["metadata"] = json.loads(row["metadata"])
        return StoredChunk(**row, vectors=None if self._vectors is None else self._vectors[place])


def to_chunks(rows: pa.Table) -> list[StoredChunk]:
    """The chunks that these rows hold, in their order; with vectors when the rows have them."""
    read = ReadRows(rows)
    return [read.chunk(place) for place in range(len(read))]


def _vector_lists(chunks: Sequence[IndexedChunk], dimensions: int, precision: Precision) -> pa.ListArray:
    number = np.float32 if precision is Precision.FULL else np.float16
    flat = np.concatenate([checked_vectors(chunk, dimensions) for chunk in chunks]).astype(number, copy=False)
    offsets = np.cumsum([0, *(len(chunk.vectors) for chunk in chunks)], dtype=np.int32)
    return pa.ListArray.from_arrays(
        pa.array(offsets), pa.FixedSizeListArray.from_arrays(pa.array(flat.reshape(-1)), dimensions)
    )


def _matrices(rows: pa.Table) -> list[Matrix]:
    lists = rows[VECTORS].combine_chunks()
    flat = lists.flatten()
    matrix = flat.flatten().to_numpy().reshape(-1, flat.type.list_size)
    if matrix.dtype == np.float16:
        whole = matrix.astype(np.float32)
        matrix = whole / np.linalg.norm(whole, axis=1, keepdims=True)
    lengths = lists.value_lengths().to_numpy()
    return [matrix[end - length : end] for length, end in zip(lengths, np.cumsum(lengths), strict=True)]
