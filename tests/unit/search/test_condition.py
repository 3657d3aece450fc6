from typing import Any

import pytest

from services.search.condition import Condition, field_value
from services.shared.index.chunk import StoredChunk
from services.shared.index.fields import FieldType
from services.shared.index.filters import Comparison, Filter, Op, validate

FIELDS = {"year": FieldType.INTEGER, "published": FieldType.DATE, "kind": FieldType.KEYWORD}


def a_chunk(**changes: Any) -> StoredChunk:
    fields: dict[str, Any] = {
        "chunk_id": "c", "document_id": "d", "revision": 1, "ordinal": 0, "title": "Title", "uri": "", "locale": "en",
        "date": "2021-03", "heading_path": (), "pages": (), "text": "Text.", "context": "", "start": 0, "end": 5,
        "tokens": 1, "analysed": "w:text", "metadata": {"year": 2021, "published": "2020"},
    }  # fmt: skip
    return StoredChunk(**(fields | changes))


def holds(field: str, op: Op, *values: Any) -> bool:
    return Condition(validate(Comparison(field, op, values), FIELDS), FIELDS).holds_for(a_chunk())


@pytest.mark.parametrize(
    ("field", "value"),
    [("id", "d"), ("title", "Title"), ("uri", None), ("date", "2021-03"), ("year", 2021), ("x", None)],
)
def test_built_in_and_declared_fields_have_values_and_an_empty_one_is_missing(field: str, value: object) -> None:
    assert field_value(a_chunk(), field) == value


@pytest.mark.parametrize(
    ("field", "op", "value", "expected"),
    [
        ("id", Op.EQ, "d", True),
        ("year", Op.GT, 2020, True),
        ("year", Op.GT, 2021, False),
        ("date", Op.EQ, "2021-03-01", True),
        ("published", Op.LT, "2020-01-02", True),
        ("kind", Op.EQ, "paper", False),
        ("kind", Op.NE, "paper", True),
        ("uri", Op.EXISTS, True, False),
    ],
)
def test_a_chunk_is_compared_as_the_index_would(field: str, op: Op, value: Any, expected: bool) -> None:
    assert holds(field, op, value) is expected


def test_no_filter_lets_everything_through() -> None:
    assert Condition(None, FIELDS).holds_for(a_chunk())


@pytest.mark.parametrize("filter", [None, Comparison("year", Op.EQ, (2021,))])
def test_one_document_can_be_left_out(filter: Filter | None) -> None:
    condition = Condition(filter, FIELDS).without_document("d")
    assert not condition.holds_for(a_chunk())
    assert condition.holds_for(a_chunk(document_id="e"))
    assert condition.holds_for(a_chunk(document_id="e", metadata={})) is (filter is None)


@pytest.mark.parametrize("date", ["last spring", "2021-13", ""])
def test_a_date_that_names_no_day_is_missing(date: str) -> None:
    dated = Comparison("date", Op.EXISTS)
    assert not Condition(validate(dated, FIELDS), FIELDS).holds_for(a_chunk(date=date))
    assert Condition(validate(Comparison("year", Op.EQ, (2021,)), FIELDS), FIELDS).holds_for(a_chunk(date=date))
