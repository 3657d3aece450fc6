import numpy as np

from services.shared.index.fields import FieldType
from services.shared.index.lance_rows import declared_fields, dimensions_of, schema_of, to_chunks, to_rows
from tests.contract.index.examples import EAST, FIELDS, NORTH, a_chunk, as_stored, windows

SCHEMA = schema_of(4, FIELDS)


def test_schema_remembers_dimensions_and_declared_types() -> None:
    assert dimensions_of(SCHEMA) == 4
    assert declared_fields(SCHEMA) == FIELDS


def test_declared_field_named_like_a_column_is_kept_apart() -> None:
    schema = schema_of(4, {"text": FieldType.INTEGER, "date_start": FieldType.KEYWORD})
    rows = to_rows([a_chunk("c1", text="words", date="2021", metadata={"text": 3, "date_start": "x"})], schema)
    [row] = rows.to_pylist()
    assert (row["text"], row["m_text"]) == ("words", 3)
    assert (row["date_start"], row["m_date_start"]) == ("2021-01-01", "x")


def test_filters_columns_hold_comparable_values_and_the_chunk_what_was_given() -> None:
    metadata = {"published": "2021-03", "year": 2021.0, "unit": ""}
    rows = to_rows([a_chunk("c1", date="2020", metadata=metadata)], SCHEMA)
    [row] = rows.to_pylist()
    assert (row["date"], row["date_start"]) == ("2020", "2020-01-01")
    assert (row["m_published"], row["m_year"], row["m_unit"], row["m_weight"]) == ("2021-03-01", 2021, None, None)
    [chunk] = to_chunks(rows)
    assert chunk.metadata == metadata


def test_metadata_that_is_not_declared_is_kept_with_the_chunk() -> None:
    [chunk] = to_chunks(to_rows([a_chunk("c1", metadata={"other": "value"})], SCHEMA))
    assert chunk.metadata == {"other": "value"}


def test_windows_of_neighbouring_chunks_are_not_mixed() -> None:
    chunks = [
        a_chunk("a", vectors=windows(EAST)),
        a_chunk("b", vectors=windows(NORTH, EAST, NORTH)),
        a_chunk("c", vectors=windows(NORTH)),
    ]
    rows = to_rows(chunks, SCHEMA)
    for part in (rows, rows.slice(1)):
        for read in to_chunks(part):
            [written] = [chunk for chunk in chunks if chunk.chunk_id == read.chunk_id]
            assert read == as_stored(written)
            np.testing.assert_array_equal(read.vectors, written.vectors)


def test_no_rows_are_no_chunks() -> None:
    assert to_chunks(SCHEMA.empty_table()) == []
