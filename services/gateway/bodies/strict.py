"""What all request bodies share: closed, strict about JSON types, and the texts and values that occur in many."""

import math
from typing import Annotated, TypeAlias

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, PlainValidator, StringConstraints, WithJsonSchema
from pydantic_core import PydanticCustomError

from services.shared.catalog.fields import MAX_ID_LENGTH, check_document_id
from services.shared.index.fields import MAX_INTEGER, FieldValue
from services.shared.runtime.errors import InvalidInput

MAX_QUESTION_LENGTH = 10_000  # code points


class Body(BaseModel):
    """A request body. An unknown field is an error, so that a typo is named instead of ignored."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, allow_inf_nan=False)


def at_part(part: str, expected: str) -> PydanticCustomError:
    """A fault of `part` of an object that only shows when its fields are seen together."""
    return PydanticCustomError("part", "{expected}", {"part": part, "expected": expected})


def _not_blank(text: str) -> str:
    if not text.strip():
        raise PydanticCustomError("blank", "should have at least one character that is not whitespace")
    return text


def _document_id(text: str) -> str:
    try:
        return check_document_id(text, field="")
    except InvalidInput as error:
        raise PydanticCustomError("document_id", "{expected}", {"expected": error.message}) from None


def check_value(value: object) -> FieldValue:
    """A text, an integer within 2^53, a finite number or a truth value. Raises PydanticCustomError."""
    match value:
        case bool() | str():
            return value
        case int() if abs(value) <= MAX_INTEGER:
            return value
        case float() if math.isfinite(value):
            return value
        case int():
            raise PydanticCustomError("value", "an integer is from -2^53 to 2^53")
    raise PydanticCustomError("value", "should be a text, a number or a truth value")


Question: TypeAlias = Annotated[
    str, StringConstraints(min_length=1, max_length=MAX_QUESTION_LENGTH), AfterValidator(_not_blank)
]
CollectionName: TypeAlias = Annotated[str, StringConstraints(min_length=1, max_length=63)]
DocumentId: TypeAlias = Annotated[
    str, AfterValidator(_document_id), Field(json_schema_extra={"minLength": 1, "maxLength": MAX_ID_LENGTH})
]
# A null is a value that is missing.
Value: TypeAlias = Annotated[
    FieldValue | None,
    PlainValidator(lambda value: None if value is None else check_value(value)),
    WithJsonSchema({"type": ["string", "number", "boolean", "null"]}),
]
