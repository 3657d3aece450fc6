from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.gateway.bodies.filters import parse_filter
from services.shared.index.filters import MAX_DEPTH, MAX_VALUES, AllOf, AnyOf, Comparison, Filter, Not, Op
from services.shared.runtime.errors import InvalidInput

VALUES = (
    st.text(max_size=5)
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.floats(allow_nan=False, allow_infinity=False)
)
COMPARISONS = (
    st.builds(
        Comparison, st.text(min_size=1, max_size=5), st.sampled_from([Op.EQ, Op.NE, Op.GT, Op.LTE]), st.tuples(VALUES)
    )
    | st.builds(Comparison, st.just("f"), st.just(Op.IN), st.lists(VALUES, min_size=1, max_size=3).map(tuple))
    | st.builds(Comparison, st.just("f"), st.just(Op.EXISTS), st.just(()) | st.tuples(st.booleans()))
)
FILTERS = st.recursive(
    COMPARISONS,
    lambda inner: (
        st.builds(AllOf, st.lists(inner, max_size=3).map(tuple))
        | st.builds(AnyOf, st.lists(inner, max_size=3).map(tuple))
        | st.builds(Not, inner)
    ),
    max_leaves=8,
)


def as_json(node: Filter) -> dict[str, Any]:
    match node:
        case AllOf(parts):
            return {"all": [as_json(part) for part in parts]}
        case AnyOf(parts):
            return {"any": [as_json(part) for part in parts]}
        case Not(part):
            return {"not": as_json(part)}
        case Comparison(field, Op.IN, values):
            return {"field": field, "op": "in", "value": list(values)}
        case Comparison(field, op, ()):
            return {"field": field, "op": op.value}
        case Comparison(field, op, (value,)):
            return {"field": field, "op": op.value, "value": value}


@given(FILTERS)
def test_every_filter_is_read_back_from_its_json(node: Filter) -> None:
    assert parse_filter(as_json(node)) == node


def test_null_is_no_filter() -> None:
    assert parse_filter(None) is None


@pytest.mark.parametrize(
    ("value", "field"),
    [
        ("year = 2021", "filter"),
        ({}, "filter"),
        ({"al": []}, "filter.al"),
        ({"all": [], "any": []}, "filter"),
        ({"all": {}}, "filter.all"),
        ({"all": [{"any": [1]}]}, "filter.all[0].any[0]"),
        ({"not": []}, "filter.not"),
        ({"field": "year", "op": "eq", "value": 1, "all": []}, "filter.all"),
        ({"field": "", "op": "eq", "value": 1}, "filter.field"),
        ({"op": "eq", "value": 1}, "filter.field"),
        ({"field": "year"}, "filter.op"),
        ({"field": "year", "op": "EQ", "value": 1}, "filter.op"),
        ({"field": "year", "op": ["eq"], "value": 1}, "filter.op"),
        ({"field": "year", "op": "eq"}, "filter.value"),
        ({"field": "year", "op": "eq", "value": None}, "filter.value"),
        ({"field": "year", "op": "eq", "value": {"a": 1}}, "filter.value"),
        ({"field": "year", "op": "eq", "value": 2**53 + 1}, "filter.value"),
        ({"field": "year", "op": "in", "value": 1}, "filter.value"),
        ({"field": "year", "op": "in", "value": []}, "filter.value"),
        ({"field": "year", "op": "in", "value": [1, [2]]}, "filter.value[1]"),
        ({"field": "year", "op": "in", "value": [1] * (MAX_VALUES + 1)}, "filter.value"),
    ],
)
def test_a_mistake_is_named_by_its_path(value: Any, field: str) -> None:
    with pytest.raises(InvalidInput) as raised:
        parse_filter(value)
    assert raised.value.field == field


def test_a_filter_may_be_nested_to_its_depth_and_no_deeper() -> None:
    node: dict[str, Any] = {"field": "year", "op": "exists"}
    for _ in range(MAX_DEPTH - 1):
        node = {"not": node}
    parse_filter(node)
    with pytest.raises(InvalidInput, match="16 deep") as raised:
        parse_filter({"not": node})
    assert raised.value.field == "filter" + ".not" * MAX_DEPTH
