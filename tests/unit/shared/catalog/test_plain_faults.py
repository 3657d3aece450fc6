from collections.abc import Mapping
from typing import Annotated, Any

import pytest
from pydantic import BaseModel, Field, TypeAdapter, ValidationError

from services.shared.catalog.plain_faults import plain


class Inner(BaseModel):
    number: int


@pytest.mark.parametrize(
    ("kind", "value", "expected"),
    [
        (Annotated[tuple[int, ...], Field(max_length=2)], "[1, 2, 3]", "should have at most 2 items"),
        (Annotated[tuple[int, ...], Field(min_length=1)], "[]", "should have at least 1 item"),
        (Annotated[dict[str, int], Field(min_length=2)], "{}", "should have at least 2 items"),
        (Annotated[str, Field(max_length=2000)], '"' + "x" * 2001 + '"', "should have at most 2,000 characters"),
        (tuple[int, ...], "{}", "should be an array"),
        (list[int], "5", "should be an array"),
        (tuple[int, int], "[1]", "this field is required"),
        (Mapping[str, int], "[]", "should be an object"),
        (Inner, "[]", "should be an object"),
        (Inner, "{}", "this field is required"),
        (int, '"x"', "should be an integer"),
        (int, "1.5", "should be an integer"),
        (float, "{}", "should be a number"),
        (bool, '"x"', "should be true or false"),
        (str, "5", "should be a text"),
        (Annotated[int, Field(ge=1)], "0", "should be greater than or equal to 1"),
    ],
)
def test_a_fault_says_in_the_words_of_json_what_was_expected(kind: Any, value: str, expected: str) -> None:
    with pytest.raises(ValidationError) as raised:
        TypeAdapter(kind).validate_json(value)
    assert plain(raised.value.errors()[0]) == expected
