"""The filter of a request: JSON read into the shared grammar, every mistake named by its path.

Whether a field exists and a value fits its type is checked by search, which has the declared fields at hand.
"""

from typing import Annotated, Any, TypeAlias

from pydantic import PlainValidator, WithJsonSchema
from pydantic_core import PydanticCustomError

from services.gateway.bodies.strict import check_value
from services.shared.index.fields import FieldValue
from services.shared.index.filters import MAX_DEPTH, MAX_VALUES, AllOf, AnyOf, Comparison, Filter, Not, Op
from services.shared.runtime.errors import InvalidInput

_SHAPE = 'a filter is {"all": [...]}, {"any": [...]}, {"not": {...}} or {"field": ..., "op": ..., "value": ...}'
_COMPARISON_KEYS = ("field", "op", "value")


def parse_filter(value: Any, path: str = "filter", *, depth: int = 1) -> Filter | None:
    """The filter that `value`, as JSON gives it, stands for; null is none.

    Raises InvalidInput naming the part at fault: `filter.all[0].field`.
    """
    return None if value is None else _node(value, path, depth)


def _node(node: Any, path: str, depth: int) -> Filter:
    if depth > MAX_DEPTH:
        raise InvalidInput(f"a filter may be nested at most {MAX_DEPTH} deep", field=path)
    if not isinstance(node, dict):
        raise InvalidInput(_SHAPE, field=path)
    match list(node):
        case ["all"]:
            return AllOf(_list(node["all"], f"{path}.all", depth))
        case ["any"]:
            return AnyOf(_list(node["any"], f"{path}.any", depth))
        case ["not"]:
            return Not(_node(node["not"], f"{path}.not", depth + 1))
        case keys if "field" in keys or "op" in keys:
            return _comparison(node, path)
        case keys:
            unknown = next((key for key in keys if key not in ("all", "any", "not")), None)
            raise InvalidInput(_SHAPE, field=path if unknown is None else f"{path}.{unknown}")


def _list(parts: Any, path: str, depth: int) -> tuple[Filter, ...]:
    if not isinstance(parts, list):
        raise InvalidInput("give a list of filters", field=path)
    return tuple(_node(part, f"{path}[{place}]", depth + 1) for place, part in enumerate(parts))


def _comparison(node: dict[str, Any], path: str) -> Comparison:
    for key in node:
        if key not in _COMPARISON_KEYS:
            raise InvalidInput("a comparison has field, op and value only", field=f"{path}.{key}")
    field, op = node.get("field"), node.get("op")
    if not isinstance(field, str) or not field:
        raise InvalidInput("name a declared or built-in field", field=f"{path}.field")
    if not isinstance(op, str) or op not in set(Op):
        raise InvalidInput(f"an operator is one of {', '.join(Op)}", field=f"{path}.op")
    return Comparison(field, Op(op), _values(Op(op), node.get("value"), f"{path}.value"))


def _values(op: Op, value: Any, path: str) -> tuple[FieldValue, ...]:
    match op:
        case Op.EXISTS if value is None:
            return ()
        case Op.IN:
            if not isinstance(value, list) or not 1 <= len(value) <= MAX_VALUES:
                raise InvalidInput(f"in takes a list of 1 to {MAX_VALUES:,} values", field=path)
            return tuple(_value(one, f"{path}[{place}]") for place, one in enumerate(value))
    return (_value(value, path),)


def _value(value: Any, path: str) -> FieldValue:
    try:
        return check_value(value)
    except PydanticCustomError as error:
        raise InvalidInput(error.message(), field=path) from None


FilterJson: TypeAlias = Annotated[
    Filter | None,
    PlainValidator(parse_filter),
    WithJsonSchema({"type": ["object", "null"], "description": _SHAPE}),
]
