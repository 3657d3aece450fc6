"""Pydantic's faults in plain words: what should have been given, as a caller who writes JSON knows it."""

from collections.abc import Mapping
from typing import Any

_AN_ARRAY, _AN_OBJECT, _A_TRUTH_VALUE = "should be an array", "should be an object", "should be true or false"
_AN_INTEGER, _A_NUMBER, _A_TEXT = "should be an integer", "should be a number", "should be a text"
_EXPECTED = {
    "missing": "this field is required",
    "missing_argument": "this field is required",
    "extra_forbidden": "there is no such field here; check its spelling",
    "list_type": _AN_ARRAY,
    "tuple_type": _AN_ARRAY,
    "dict_type": _AN_OBJECT,
    "mapping_type": _AN_OBJECT,
    "model_type": _AN_OBJECT,
    "model_attributes_type": _AN_OBJECT,
    "dataclass_type": _AN_OBJECT,
    "dataclass_exact_type": _AN_OBJECT,
    "string_type": _A_TEXT,
    "bool_type": _A_TRUTH_VALUE,
    "bool_parsing": _A_TRUTH_VALUE,
    "int_type": _AN_INTEGER,
    "int_parsing": _AN_INTEGER,
    "int_from_float": _AN_INTEGER,
    "float_type": _A_NUMBER,
    "float_parsing": _A_NUMBER,
}


def plain(fault: Mapping[str, Any]) -> str:
    """What was expected where pydantic found `fault`, one of `ValidationError.errors()`."""
    bounds = fault.get("ctx", {})
    match fault["type"]:
        case "too_short":
            return f"should have at least {_count(bounds['min_length'], 'item')}"
        case "too_long":
            return f"should have at most {_count(bounds['max_length'], 'item')}"
        case "string_too_short":
            return f"should have at least {_count(bounds['min_length'], 'character')}"
        case "string_too_long":
            return f"should have at most {_count(bounds['max_length'], 'character')}"
        case kind if kind in _EXPECTED:
            return _EXPECTED[kind]
    message = str(fault["msg"]).removeprefix("Value error, ").removeprefix("Input ")
    return f"{message[:1].lower()}{message[1:]}"


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}" if number == 1 else f"{number:,} {what}s"
