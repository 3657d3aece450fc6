"""Filters as Weaviate reads them, and the forms in which values are compared there. Pure.

Weaviate's `NOT` is the complement within the class, missing values included, as ours is. Its `field` tokenisation trims
white space and so would take `x` and ` x` for one: keywords are stored between a first and a last character that keep
every value whole. Dates are whole numbers, because its own dates end in the year 2262.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence

from weaviate.proto.v1 import base_pb2

from services.shared.index.fields import BUILT_IN_FIELDS, FieldType, FieldValue
from services.shared.index.filters import AllOf, AnyOf, Comparison, Filter, Not, Op

_FIRST = "="
# The lowest code point: so the order of stored values is the order of the values, one a prefix of the other or not.
_LAST = "\x00"

_BUILT_IN_PROPERTIES = {"id": "document_id", "date": "date_start"}
_Operators = base_pb2.Filters
_COMPARED_BY = {
    Op.EQ: _Operators.OPERATOR_EQUAL,
    Op.GT: _Operators.OPERATOR_GREATER_THAN,
    Op.GTE: _Operators.OPERATOR_GREATER_THAN_EQUAL,
    Op.LT: _Operators.OPERATOR_LESS_THAN,
    Op.LTE: _Operators.OPERATOR_LESS_THAN_EQUAL,
}


def property_of(field: str) -> str:
    """The property that filters on `field` compare; the prefix keeps declared fields apart from all others."""
    return _BUILT_IN_PROPERTIES.get(field, field) if field in BUILT_IN_FIELDS else f"m_{field}"


def stored_keyword(value: str) -> str:
    """`value` as a keyword property holds it: order and equality are those of the values, by code point."""
    return f"{_FIRST}{value}{_LAST}"


def keyword_value(stored: str) -> str:
    """The value that `stored_keyword` made `stored` of."""
    return stored[1:-1]


def stored_date(day: str) -> int:
    """A day written YYYY-MM-DD as the number YYYYMMDD."""
    return int(day.replace("-", ""))


def value_of_date(stored: int) -> str:
    """The day that `stored_date` made `stored` of."""
    return f"{stored // 10_000:04}-{stored // 100 % 100:02}-{stored % 100:02}"


def stored_value(value: FieldValue, declared: FieldType) -> FieldValue:
    """A value in its comparable form as a property of its field's type holds it."""
    match declared, value:
        case FieldType.KEYWORD, str():
            return stored_keyword(value)
        case FieldType.DATE, str():
            return stored_date(value)
    return value


def to_weaviate(filter: Filter, fields: Mapping[str, FieldType]) -> base_pb2.Filters | bool:
    """A filter in normal form as Weaviate's, or what it says of every chunk alike.

    `fields` are the declared ones of the generation; any other field is always missing.
    """
    match filter:
        case AllOf(filters):
            return _joined(_Operators.OPERATOR_AND, [to_weaviate(part, fields) for part in filters], neutral=True)
        case AnyOf(filters):
            return _joined(_Operators.OPERATOR_OR, [to_weaviate(part, fields) for part in filters], neutral=False)
        case Not(part):
            inner = to_weaviate(part, fields)
            if isinstance(inner, bool):
                return not inner
            return base_pb2.Filters(operator=_Operators.OPERATOR_NOT, filters=[inner])
        case Comparison(field, op, values):
            declared = {**fields, **BUILT_IN_FIELDS}.get(field)
            if declared is None or (op is Op.IN and not values):
                return False
            return _comparison(property_of(field), declared, op, values)


def fields_of(filter: Filter) -> set[str]:
    """The fields that a filter names."""
    match filter:
        case AllOf(filters) | AnyOf(filters):
            return set().union(*map(fields_of, filters))
        case Not(part):
            return fields_of(part)
        case Comparison(field):
            return {field}


def every_chunk() -> base_pb2.Filters:
    """What every chunk meets. A search with it scans where it would follow the graph, if there are few chunks."""
    return _comparison("document_id", FieldType.KEYWORD, Op.EXISTS, ())


def one_of_objects(object_ids: Collection[str]) -> base_pb2.Filters:
    """The objects with these ids."""
    return _contains_any("_id", FieldType.KEYWORD, object_ids)


def of_document(document_id: str, first_ordinal: int) -> base_pb2.Filters:
    """The chunks of a document from this ordinal on."""
    return base_pb2.Filters(
        operator=_Operators.OPERATOR_AND,
        filters=[
            _comparison("document_id", FieldType.KEYWORD, Op.EQ, (document_id,)),
            _comparison("ordinal", FieldType.INTEGER, Op.GTE, (first_ordinal,)),
        ],
    )


def _joined(
    operator: base_pb2.Filters.Operator, parts: Sequence[base_pb2.Filters | bool], *, neutral: bool
) -> base_pb2.Filters | bool:
    if (not neutral) in parts:
        return not neutral
    filters = [part for part in parts if not isinstance(part, bool)]
    if not filters:
        return neutral
    return filters[0] if len(filters) == 1 else base_pb2.Filters(operator=operator, filters=filters)


def _comparison(name: str, declared: FieldType, op: Op, values: tuple[FieldValue, ...]) -> base_pb2.Filters:
    if op is Op.IN:
        return _contains_any(name, declared, [stored_value(value, declared) for value in values])
    target = base_pb2.FilterTarget(property=name)
    if op is Op.EXISTS:
        return base_pb2.Filters(operator=_Operators.OPERATOR_IS_NULL, target=target, value_boolean=False)
    compared = base_pb2.Filters(operator=_COMPARED_BY[op], target=target)
    setattr(compared, f"value_{_VALUE_KINDS[declared]}", stored_value(values[0], declared))
    return compared


_VALUE_KINDS = {
    FieldType.KEYWORD: "text",
    FieldType.INTEGER: "int",
    FieldType.NUMBER: "number",
    FieldType.DATE: "int",
    FieldType.BOOLEAN: "boolean",
}


def _contains_any(name: str, declared: FieldType, stored: Iterable[FieldValue]) -> base_pb2.Filters:
    contains = base_pb2.Filters(operator=_Operators.OPERATOR_CONTAINS_ANY, target=base_pb2.FilterTarget(property=name))
    getattr(contains, f"value_{_VALUE_KINDS[declared]}_array").values.extend(stored)
    return contains
