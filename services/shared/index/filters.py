"""The filter grammar: what a filter may say, and what it means.

Pure. `validate` is the only way from a caller's filter to one that an engine may see; `matches` is the meaning, in
Python, that every engine's translation is tested against.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from services.shared.index.fields import BUILT_IN_FIELDS, FieldType, FieldValue, comparable
from services.shared.runtime.errors import InvalidInput

MAX_DEPTH = 16
"""Levels of `all`, `any`, `not` and comparison, one inside the other."""
MAX_COMPARISONS = 256
"""Comparisons in one filter; an empty `all` or `any` counts as one."""
MAX_VALUES = 1_000
"""Values of one `in`."""


class Op(StrEnum):
    """How a field's value is compared."""

    EQ = "eq"
    NE = "ne"
    IN = "in"
    GT = "gt"
    GTE = "gte"
    LT = "lt"
    LTE = "lte"
    EXISTS = "exists"


@dataclass(frozen=True, slots=True)
class Comparison:
    """One field against values: any number for `in`, at most a boolean for `exists`, one for all others."""

    field: str
    op: Op
    values: tuple[FieldValue, ...] = ()


@dataclass(frozen=True, slots=True)
class AllOf:
    """Every filter holds; true when there is none."""

    filters: tuple["Filter", ...]


@dataclass(frozen=True, slots=True)
class AnyOf:
    """At least one filter holds; false when there is none."""

    filters: tuple["Filter", ...]


@dataclass(frozen=True, slots=True)
class Not:
    """The complement: what `filter` does not match, missing values among it."""

    filter: "Filter"


Filter = AllOf | AnyOf | Not | Comparison


def validate(filter: Filter, fields: Mapping[str, FieldType]) -> Filter:
    """The same filter in its normal form, every value in its field's comparable form.

    `fields` are the declared ones; the built-in ones are always there. In normal form `ne` is `not eq`, `exists` has no
    value (`exists false` is `not exists`), and so `eq`, `in`, `gt`, `gte`, `lt`, `lte`, `exists` are all the operators.

    Raises:
        InvalidInput: too deep or too large, a field that is not there, a value that is not of its field's type; the
            error's field is the path of the part at fault (`filter.all[0].value`).
    """
    if _comparisons(filter, "filter", depth=1) > MAX_COMPARISONS:
        raise InvalidInput(f"A filter may hold at most {MAX_COMPARISONS} comparisons.", field="filter")
    return _normal(filter, {**fields, **BUILT_IN_FIELDS}, "filter")


def matches(filter: Filter, values: Mapping[str, FieldValue | None]) -> bool:
    """Whether a chunk with these values matches a filter in normal form.

    `values` are in their comparable form; a field that is None or not there is missing and fails every comparison.
    """
    match filter:
        case AllOf(filters):
            return all(matches(part, values) for part in filters)
        case AnyOf(filters):
            return any(matches(part, values) for part in filters)
        case Not(part):
            return not matches(part, values)
        case Comparison(field, op, wanted):
            value = values.get(field)
            return value is not None and _HOLDS[op](value, wanted)


_HOLDS: Mapping[Op, Callable[[Any, Any], bool]] = {
    Op.EQ: lambda value, wanted: value == wanted[0],
    Op.IN: lambda value, wanted: value in wanted,
    Op.GT: lambda value, wanted: value > wanted[0],
    Op.GTE: lambda value, wanted: value >= wanted[0],
    Op.LT: lambda value, wanted: value < wanted[0],
    Op.LTE: lambda value, wanted: value <= wanted[0],
    Op.EXISTS: lambda value, wanted: True,
}
_NEEDS_ORDER = frozenset({Op.GT, Op.GTE, Op.LT, Op.LTE})


def _parts(filter: Filter, path: str) -> list[tuple[Filter, str]]:
    """The filters directly inside, each with its path."""
    match filter:
        case AllOf(filters):
            return [(part, f"{path}.all[{place}]") for place, part in enumerate(filters)]
        case AnyOf(filters):
            return [(part, f"{path}.any[{place}]") for place, part in enumerate(filters)]
        case Not(part):
            return [(part, f"{path}.not")]
        case Comparison():
            return []


def _comparisons(filter: Filter, path: str, *, depth: int) -> int:
    if depth > MAX_DEPTH:
        raise InvalidInput(f"A filter may be nested at most {MAX_DEPTH} deep.", field=path)
    return sum(_comparisons(part, at, depth=depth + 1) for part, at in _parts(filter, path)) or 1


def _normal(filter: Filter, fields: Mapping[str, FieldType], path: str) -> Filter:
    if isinstance(filter, Comparison):
        return _normal_comparison(filter, fields, path)
    parts = tuple(_normal(part, fields, at) for part, at in _parts(filter, path))
    return Not(parts[0]) if isinstance(filter, Not) else type(filter)(parts)


def _normal_comparison(comparison: Comparison, fields: Mapping[str, FieldType], path: str) -> Filter:
    field, op, values = comparison.field, comparison.op, comparison.values
    declared = fields.get(field)
    if declared is None:
        raise InvalidInput(
            f"There is no field {field!r}. The fields are: {', '.join(sorted(fields))}.", field=f"{path}.field"
        )
    if op is Op.EXISTS:
        if len(values) > 1 or not all(isinstance(value, bool) for value in values):
            raise InvalidInput("exists takes true, false or no value.", field=f"{path}.value")
        exists = Comparison(field, op)
        return exists if values != (False,) else Not(exists)
    if op in _NEEDS_ORDER and declared == FieldType.BOOLEAN:
        raise InvalidInput(f"{field} is a boolean field; {op} needs one with an order.", field=f"{path}.op")
    if op is Op.IN:
        if len(values) > MAX_VALUES:
            raise InvalidInput(f"in takes at most {MAX_VALUES:,} values, not {len(values):,}.", field=f"{path}.value")
        places = [f"{path}.value[{place}]" for place in range(len(values))]
    else:
        if len(values) != 1:
            raise InvalidInput(f"{op} takes one value, not {len(values):,}.", field=f"{path}.value")
        places = [f"{path}.value"]
    wanted = tuple(_wanted(value, field, declared, at) for value, at in zip(values, places, strict=True))
    return Not(Comparison(field, Op.EQ, wanted)) if op is Op.NE else Comparison(field, op, wanted)


def _wanted(value: FieldValue, field: str, declared: FieldType, path: str) -> FieldValue:
    try:
        wanted = comparable(value, declared)
    except ValueError as error:
        raise InvalidInput(f"{field} is a field of type {declared} and takes {error}.", field=path) from None
    if wanted is None:
        raise InvalidInput("The empty string is a missing value; ask with exists.", field=path)
    return wanted
