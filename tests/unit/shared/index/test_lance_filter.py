import pytest

from services.shared.index.fields import FieldValue
from services.shared.index.filters import AllOf, AnyOf, Comparison, Filter, Not, Op
from services.shared.index.lance_filter import column_of, literal, one_of, to_sql

COLUMNS = ["document_id", "title", "date", "date_start", "m_year", "m_title"]
YEAR = Comparison("year", Op.GTE, (2021,))
YEAR_SQL = "m_year IS NOT NULL AND m_year >= 2021"


def test_declared_and_built_in_fields_have_columns_of_their_own() -> None:
    assert [column_of(name) for name in ("id", "title", "date", "year", "document_id", "text")] == [
        "document_id",
        "title",
        "date_start",
        "m_year",
        "m_document_id",
        "m_text",
    ]


@pytest.mark.parametrize(
    ("value", "sql"),
    [
        ("plain", "'plain'"),
        ("it's ''", "'it''s '''''"),
        ('\\"', "'\\\"'"),
        (True, "true"),
        (False, "false"),
        (-(2**53), "-9007199254740992"),
        (0.1, "0.1"),
        (1e300, "1e+300"),
    ],
)
def test_literal_is_the_value_and_nothing_else(value: FieldValue, sql: str) -> None:
    assert literal(value) == sql


@pytest.mark.parametrize(
    ("filter", "sql"),
    [
        (YEAR, YEAR_SQL),
        (Not(YEAR), f"NOT ({YEAR_SQL})"),
        (AllOf((YEAR, YEAR)), f"({YEAR_SQL}) AND ({YEAR_SQL})"),
        (AnyOf((YEAR, AllOf(()))), f"({YEAR_SQL}) OR (true)"),
        (AllOf(()), "true"),
        (AnyOf(()), "false"),
        (Comparison("year", Op.EXISTS), "m_year IS NOT NULL"),
        (Comparison("year", Op.IN, (1, 2)), "m_year IS NOT NULL AND m_year IN (1, 2)"),
        (Comparison("year", Op.IN, ()), "false"),
        (Comparison("date", Op.LT, ("2021-01-01",)), "date_start IS NOT NULL AND date_start < '2021-01-01'"),
    ],
)
def test_filter_reads_as_two_valued_sql(filter: Filter, sql: str) -> None:
    assert to_sql(filter, COLUMNS) == sql


def test_field_without_a_column_is_always_missing() -> None:
    assert to_sql(Not(Comparison("level", Op.EQ, ("A1",))), COLUMNS) == "NOT (false)"


def test_one_of_names_every_value() -> None:
    assert one_of("chunk_id", ["a", "b'"]) == "chunk_id IN ('a', 'b''')"
