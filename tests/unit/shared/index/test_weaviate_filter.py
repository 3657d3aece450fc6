"""Filters and values as Weaviate compares them."""

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st
from weaviate.proto.v1 import base_pb2

from services.shared.index.fields import FieldType
from services.shared.index.filters import AllOf, AnyOf, Comparison, Filter, Not, Op
from services.shared.index.weaviate_filter import (
    fields_of,
    keyword_value,
    property_of,
    stored_date,
    stored_keyword,
    to_weaviate,
    value_of_date,
)

FIELDS = {
    "unit": FieldType.KEYWORD,
    "year": FieldType.INTEGER,
    "weight": FieldType.NUMBER,
    "published": FieldType.DATE,
    "reviewed": FieldType.BOOLEAN,
}
UNIT = Comparison("unit", Op.EQ, ("1-1",))
YEAR = Comparison("year", Op.GTE, (2020,))
UNKNOWN = Comparison("level", Op.EXISTS)
Filters = base_pb2.Filters


def translated(filter: Filter) -> base_pb2.Filters:
    filters = to_weaviate(filter, FIELDS)
    assert not isinstance(filters, bool)
    return filters


@given(st.text(), st.text())
def test_stored_keywords_have_the_order_of_the_values(one: str, other: str) -> None:
    stored = stored_keyword(one).encode(), stored_keyword(other).encode()
    assert (stored[0] < stored[1]) == (one < other)
    assert (stored[0] == stored[1]) == (one == other)


@given(st.text())
def test_stored_keyword_has_no_white_space_at_its_ends_and_is_read_back(value: str) -> None:
    assert stored_keyword(value).strip() == stored_keyword(value)
    assert keyword_value(stored_keyword(value)) == value


@given(st.dates(), st.dates())
def test_stored_dates_have_the_order_of_the_days(one: date, other: date) -> None:
    assert (stored_date(one.isoformat()) < stored_date(other.isoformat())) == (one < other)
    assert value_of_date(stored_date(one.isoformat())) == one.isoformat()


@pytest.mark.parametrize(
    ("comparison", "kind", "value"),
    [
        (Comparison("unit", Op.EQ, (" 1",)), "value_text", "= 1\x00"),
        (Comparison("id", Op.EQ, ("d",)), "value_text", "=d\x00"),
        (Comparison("year", Op.LT, (2**53,)), "value_int", 2**53),
        (Comparison("weight", Op.GT, (0.1,)), "value_number", 0.1),
        (Comparison("published", Op.LTE, ("2021-03-01",)), "value_int", 20210301),
        (Comparison("date", Op.GTE, ("0999-12-31",)), "value_int", 9991231),
        (Comparison("reviewed", Op.EQ, (False,)), "value_boolean", False),
    ],
)
def test_value_is_sent_in_the_form_in_which_it_is_stored(comparison: Comparison, kind: str, value: object) -> None:
    filters = translated(comparison)
    assert filters.WhichOneof("test_value") == kind
    assert getattr(filters, kind) == value
    assert filters.target.property == property_of(comparison.field)


def test_every_operator_has_its_own() -> None:
    operators = {op: translated(Comparison("year", op, (1,))).operator for op in Op if op is not Op.NE}
    assert operators == {
        Op.EQ: Filters.OPERATOR_EQUAL,
        Op.IN: Filters.OPERATOR_CONTAINS_ANY,
        Op.GT: Filters.OPERATOR_GREATER_THAN,
        Op.GTE: Filters.OPERATOR_GREATER_THAN_EQUAL,
        Op.LT: Filters.OPERATOR_LESS_THAN,
        Op.LTE: Filters.OPERATOR_LESS_THAN_EQUAL,
        Op.EXISTS: Filters.OPERATOR_IS_NULL,
    }


def test_exists_asks_for_what_is_not_null() -> None:
    filters = translated(Comparison("unit", Op.EXISTS))
    assert filters.WhichOneof("test_value") == "value_boolean"
    assert filters.value_boolean is False


def test_several_values_are_sent_in_one_comparison() -> None:
    assert list(translated(Comparison("unit", Op.IN, ("a", "b"))).value_text_array.values) == ["=a\x00", "=b\x00"]
    assert list(translated(Comparison("published", Op.IN, ("2021-01-01",))).value_int_array.values) == [20210101]
    assert list(translated(Comparison("reviewed", Op.IN, (True,))).value_boolean_array.values) == [True]


def test_parts_are_joined() -> None:
    both, either, none = (
        translated(AllOf((UNIT, YEAR))),
        translated(AnyOf((UNIT, YEAR))),
        translated(Not(UNIT)),
    )
    assert (both.operator, list(both.filters)) == (Filters.OPERATOR_AND, [translated(UNIT), translated(YEAR)])
    assert (either.operator, list(either.filters)) == (Filters.OPERATOR_OR, [translated(UNIT), translated(YEAR)])
    assert (none.operator, list(none.filters)) == (Filters.OPERATOR_NOT, [translated(UNIT)])


@pytest.mark.parametrize(
    ("filter", "of_every_chunk"),
    [
        (AllOf(()), True),
        (AnyOf(()), False),
        (UNKNOWN, False),
        (Not(UNKNOWN), True),
        (Comparison("unit", Op.IN, ()), False),
        (AllOf((UNIT, UNKNOWN)), False),
        (AnyOf((UNIT, Not(UNKNOWN))), True),
        (AllOf((AllOf(()), Not(AnyOf(())))), True),
    ],
)
def test_filter_that_is_true_or_false_of_every_chunk_is_not_sent(filter: Filter, of_every_chunk: bool) -> None:
    assert to_weaviate(filter, FIELDS) is of_every_chunk


@pytest.mark.parametrize("filter", [AllOf((UNIT, Not(UNKNOWN))), AnyOf((UNKNOWN, UNIT)), AllOf((AnyOf((UNIT,)),))])
def test_part_that_decides_nothing_is_left_out(filter: Filter) -> None:
    assert translated(filter) == translated(UNIT)


def test_fields_of_a_filter_are_all_that_it_names() -> None:
    assert fields_of(AnyOf((UNIT, Not(AllOf((YEAR, UNKNOWN)))))) == {"unit", "year", "level"}
    assert fields_of(AllOf(())) == set()
