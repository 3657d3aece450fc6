"""The fields a filter may name: their types, and the one form in which stored and asked-for values are compared.

Pure. Which fields a collection declares is the catalog's to keep; how an engine stores them is its adapter's.
"""

import re
import sys
from collections.abc import Mapping
from datetime import date
from enum import StrEnum
from types import MappingProxyType

FieldValue = str | int | float | bool


class FieldType(StrEnum):
    """What a declared field holds."""

    KEYWORD = "keyword"
    INTEGER = "integer"
    NUMBER = "number"
    DATE = "date"
    BOOLEAN = "boolean"


BUILT_IN_FIELDS: Mapping[str, FieldType] = MappingProxyType(
    {
        "id": FieldType.KEYWORD,
        "title": FieldType.KEYWORD,
        "uri": FieldType.KEYWORD,
        "locale": FieldType.KEYWORD,
        "date": FieldType.DATE,
    }
)
"""What every document has and every filter may name, declared or not; `id` is the document's."""

MAX_INTEGER = 2**53
"""Integers travel as doubles to some engines and to JSON readers; beyond this they would change on the way."""

EXPECTED: Mapping[FieldType, str] = MappingProxyType(
    {
        FieldType.KEYWORD: "a string",
        FieldType.INTEGER: "a whole number from -2^53 to 2^53",
        FieldType.NUMBER: "a finite number",
        FieldType.DATE: "a date written as YYYY, YYYY-MM or YYYY-MM-DD",
        FieldType.BOOLEAN: "true or false",
    }
)
"""The values of each type, in words for a caller."""

# What every engine takes as part of a column's or property's name without quoting.
_DECLARABLE_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,62}")
_DATE = re.compile(r"([0-9]{4})(?:-([0-9]{2})(?:-([0-9]{2}))?)?")


def is_declarable(name: str) -> bool:
    """Whether a field may be declared by this name: a letter, then at most 62 letters, digits and `_`; not built in."""
    return name not in BUILT_IN_FIELDS and _DECLARABLE_NAME.fullmatch(name) is not None


def start_of_period(text: str) -> str | None:
    """The first day, as YYYY-MM-DD, of the year, month or day that `text` names; None when it names none."""
    parts = _DATE.fullmatch(text)
    if parts is None:
        return None
    year, month, day = (int(part or 1) for part in parts.groups())
    try:
        return date(year, month, day).isoformat()
    except ValueError:
        return None


def comparable(value: FieldValue, declared: FieldType) -> FieldValue | None:
    """The form of `value` that comparisons use, or None for the empty string, which is a missing value.

    Dates become the start of their period, whole floats integers, numbers floats (-0.0 is 0.0); order is by code point
    for keywords and by time for dates.

    Raises:
        ValueError: `value` is not of the type; the message is the type's entry in `EXPECTED`.
    """
    if value == "" and declared in (FieldType.KEYWORD, FieldType.DATE):
        return None
    converted = _converted(value, declared)
    if converted is None:
        raise ValueError(EXPECTED[declared])
    return converted


def _converted(value: FieldValue, declared: FieldType) -> FieldValue | None:
    match declared, value:
        case FieldType.BOOLEAN, bool():
            return value
        case _, bool():
            return None
        case FieldType.KEYWORD, str():
            return value
        case FieldType.DATE, str():
            return start_of_period(value)
        case FieldType.INTEGER, int() | float() if abs(value) <= MAX_INTEGER and value == int(value):
            return int(value)
        case FieldType.NUMBER, int() | float() if abs(value) <= sys.float_info.max:
            return float(value) + 0.0
    return None
