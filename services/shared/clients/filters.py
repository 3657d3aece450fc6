"""Filters, field values and field types on the wire: stub messages to and from the index's own values."""

from collections.abc import Mapping

from plumbline.search.v1 import filter_pb2, search_pb2
from services.shared.index.fields import FieldType, FieldValue
from services.shared.index.filters import AllOf, AnyOf, Comparison, Filter, Not, Op
from services.shared.runtime.errors import InvalidInput

_OPERATORS: Mapping[Op, "filter_pb2.Operator"] = {
    Op.EQ: filter_pb2.OPERATOR_EQ,
    Op.NE: filter_pb2.OPERATOR_NE,
    Op.IN: filter_pb2.OPERATOR_IN,
    Op.GT: filter_pb2.OPERATOR_GT,
    Op.GTE: filter_pb2.OPERATOR_GTE,
    Op.LT: filter_pb2.OPERATOR_LT,
    Op.LTE: filter_pb2.OPERATOR_LTE,
    Op.EXISTS: filter_pb2.OPERATOR_EXISTS,
}
_OPS = {operator: op for op, operator in _OPERATORS.items()}
_FIELD_TYPES: Mapping[FieldType, "search_pb2.FieldType"] = {
    FieldType.KEYWORD: search_pb2.FIELD_TYPE_KEYWORD,
    FieldType.INTEGER: search_pb2.FIELD_TYPE_INTEGER,
    FieldType.NUMBER: search_pb2.FIELD_TYPE_NUMBER,
    FieldType.DATE: search_pb2.FIELD_TYPE_DATE,
    FieldType.BOOLEAN: search_pb2.FIELD_TYPE_BOOLEAN,
}
_DECLARED = {field_type: declared for declared, field_type in _FIELD_TYPES.items()}


def filter_to_proto(filter: Filter, *, path: str = "filter") -> filter_pb2.Filter:
    """The filter as a message.

    Raises InvalidInput naming the part at fault, from `path` on, for a value that no message can hold: a whole number
    over 64 bits, a text with half of a surrogate pair.
    """
    match filter:
        case AllOf(parts):
            nodes = [filter_to_proto(part, path=f"{path}.all[{place}]") for place, part in enumerate(parts)]
            return filter_pb2.Filter(all=filter_pb2.FilterList(filters=nodes))
        case AnyOf(parts):
            nodes = [filter_to_proto(part, path=f"{path}.any[{place}]") for place, part in enumerate(parts)]
            return filter_pb2.Filter(any=filter_pb2.FilterList(filters=nodes))
        case Not(part):
            message = filter_pb2.Filter()
            getattr(message, "not").CopyFrom(filter_to_proto(part, path=f"{path}.not"))
            return message
        case Comparison(field, op, values):
            messages = [value_to_proto(value, path=f"{path}.value") for value in values]
            try:
                comparison = filter_pb2.Comparison(field=field, op=_OPERATORS[op], values=messages)
            except ValueError:
                raise InvalidInput("the field's name is not valid text", field=f"{path}.field") from None
            return filter_pb2.Filter(comparison=comparison)


def filter_from_proto(message: filter_pb2.Filter, *, path: str = "filter") -> Filter:
    """The filter in a message, not yet checked against any fields (`filters.validate` does that).

    Raises InvalidInput naming the part at fault, from `path` on, where something is not set.
    """
    match message.WhichOneof("node"):
        case "all":
            parts = enumerate(message.all.filters)
            return AllOf(tuple(filter_from_proto(part, path=f"{path}.all[{place}]") for place, part in parts))
        case "any":
            parts = enumerate(message.any.filters)
            return AnyOf(tuple(filter_from_proto(part, path=f"{path}.any[{place}]") for place, part in parts))
        case "not":
            return Not(filter_from_proto(getattr(message, "not"), path=f"{path}.not"))
        case "comparison":
            return _comparison_from_proto(message.comparison, path)
        case _:
            raise InvalidInput("set one of all, any, not and comparison", field=path)


def _comparison_from_proto(message: filter_pb2.Comparison, path: str) -> Comparison:
    op = _OPS.get(message.op)
    if op is None:
        raise InvalidInput(f"an operator is one of {', '.join(Op)}", field=f"{path}.op")
    values = tuple(value_from_proto(value, path=f"{path}.value") for value in message.values)
    return Comparison(message.field, op, values)


def value_to_proto(value: FieldValue, *, path: str = "value") -> filter_pb2.Value:
    """The value as a message. Raises InvalidInput naming `path` as `filter_to_proto`."""
    try:
        match value:
            case bool():  # before int, which a bool is too
                return filter_pb2.Value(boolean=value)
            case int():
                return filter_pb2.Value(integer=value)
            case float():
                return filter_pb2.Value(number=value)
            case str():
                return filter_pb2.Value(text=value)
    except ValueError:
        raise InvalidInput("the value is too large a number, or not valid text", field=path) from None


def value_from_proto(message: filter_pb2.Value, *, path: str = "value") -> FieldValue:
    """The value in a message. Raises InvalidInput naming `path` when none is set."""
    kind = message.WhichOneof("kind")
    if kind is None:
        raise InvalidInput("set one of text, integer, number and boolean", field=path)
    value: FieldValue = getattr(message, kind)
    return value


def field_types_to_proto(fields: Mapping[str, str]) -> "dict[str, search_pb2.FieldType]":
    """Declared fields, by name, as a message has them; types are those of `FieldType` by their names."""
    return {name: _FIELD_TYPES[FieldType(declared)] for name, declared in fields.items()}


def field_types_from_proto(
    message: "Mapping[str, search_pb2.FieldType]", *, path: str = "fields"
) -> dict[str, FieldType]:
    """Declared fields by name. Raises InvalidInput naming `<path>.<name>` for a type that is not set."""
    for name, field_type in message.items():
        if field_type not in _DECLARED:
            raise InvalidInput(f"a type is one of {', '.join(FieldType)}", field=f"{path}.{name}")
    return {name: _DECLARED[field_type] for name, field_type in message.items()}
