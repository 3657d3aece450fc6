import pytest
from hypothesis import given
from hypothesis import strategies as st

from plumbline.search.v1 import filter_pb2, search_pb2
from services.shared.clients.filters import (
    field_types_from_proto,
    field_types_to_proto,
    filter_from_proto,
    filter_to_proto,
    value_from_proto,
    value_to_proto,
)
from services.shared.index.fields import FieldType, FieldValue
from services.shared.index.filters import AllOf, AnyOf, Comparison, Filter, Not, Op
from services.shared.runtime.errors import InvalidInput

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=10)
VALUES = st.one_of(TEXTS, st.integers(-(2**53), 2**53), st.floats(allow_nan=False), st.booleans())
COMPARISONS = st.builds(Comparison, TEXTS, st.sampled_from(Op), st.lists(VALUES, max_size=3).map(tuple))
FILTERS: st.SearchStrategy[Filter] = st.recursive(
    COMPARISONS,
    lambda parts: st.one_of(
        st.builds(AllOf, st.lists(parts, max_size=3).map(tuple)),
        st.builds(AnyOf, st.lists(parts, max_size=3).map(tuple)),
        st.builds(Not, parts),
    ),
    max_leaves=8,
)


def at_fault(refused: pytest.ExceptionInfo[InvalidInput]) -> str | None:
    return refused.value.field


@given(FILTERS)
def test_a_filter_comes_back_as_it_was_sent(filter: Filter) -> None:
    sent = filter_pb2.Filter.FromString(filter_to_proto(filter).SerializeToString())
    assert filter_from_proto(sent) == filter


@given(VALUES)
def test_a_value_comes_back_with_its_type(value: FieldValue) -> None:
    back = value_from_proto(value_to_proto(value))
    assert (back, type(back)) == (value, type(value))


def test_a_truth_value_is_no_integer() -> None:
    assert value_to_proto(True).WhichOneof("kind") == "boolean"
    assert value_to_proto(1).WhichOneof("kind") == "integer"


@pytest.mark.parametrize(
    ("message", "field"),
    [
        (filter_pb2.Filter(), "filter"),
        (filter_pb2.Filter(all=filter_pb2.FilterList(filters=[filter_pb2.Filter()])), "filter.all[0]"),
        (filter_pb2.Filter(comparison=filter_pb2.Comparison(field="a")), "filter.op"),
        (filter_pb2.Filter(comparison=filter_pb2.Comparison(field="a", op=99)), "filter.op"),
        (
            filter_pb2.Filter(comparison=filter_pb2.Comparison(field="a", op=1, values=[filter_pb2.Value()])),
            "filter.value",
        ),
    ],
)
def test_what_is_not_set_is_named(message: filter_pb2.Filter, field: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        filter_from_proto(message)
    assert at_fault(refused) == field


@pytest.mark.parametrize(
    ("comparison", "field"),
    [
        (Comparison("a", Op.EQ, (2**63,)), "where.any[1].not.value"),
        (Comparison("a", Op.EQ, ("half \ud800",)), "where.any[1].not.value"),
        (Comparison("half \ud800", Op.EQ, (1,)), "where.any[1].not.field"),
    ],
)
def test_what_no_message_can_hold_is_named(comparison: Comparison, field: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        filter_to_proto(AnyOf((Comparison("b", Op.EXISTS), Not(comparison))), path="where")
    assert at_fault(refused) == field


def test_field_types_come_back() -> None:
    fields = {declared.value: declared for declared in FieldType}
    assert field_types_from_proto(field_types_to_proto(fields)) == fields


def test_types_may_be_given_by_name() -> None:
    assert field_types_to_proto({"year": "integer"}) == {"year": search_pb2.FIELD_TYPE_INTEGER}


def test_a_type_that_is_not_set_is_named() -> None:
    with pytest.raises(InvalidInput) as refused:
        field_types_from_proto({"year": search_pb2.FIELD_TYPE_UNSPECIFIED}, path="retrieval.fields")
    assert at_fault(refused) == "retrieval.fields.year"
