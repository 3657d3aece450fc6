import math

import pytest

from services.shared.index.fields import (
    BUILT_IN_FIELDS,
    MAX_INTEGER,
    FieldType,
    FieldValue,
    comparable,
    is_declarable,
    start_of_period,
)


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("2021", "2021-01-01"),
        ("2021-03", "2021-03-01"),
        ("2021-03-09", "2021-03-09"),
        ("0001", "0001-01-01"),
        ("2020-02-29", "2020-02-29"),
    ],
)
def test_partial_date_is_the_first_day_of_its_period(text: str, day: str) -> None:
    assert start_of_period(text) == day


@pytest.mark.parametrize(
    "text",
    [
        "",
        "21",
        "2021-3",
        "2021-13",
        "2021-00",
        "2021-02-29",
        "0000",
        "2021-03-09T10:00",
        " 2021",
        "2021\n",
        "２０２１",
        "x",
    ],
)
def test_what_is_no_date_has_no_period(text: str) -> None:
    assert start_of_period(text) is None


@pytest.mark.parametrize(
    ("value", "declared", "expected"),
    [
        ("Not Verified", FieldType.KEYWORD, "Not Verified"),
        (7, FieldType.INTEGER, 7),
        (7.0, FieldType.INTEGER, 7),
        (MAX_INTEGER, FieldType.INTEGER, MAX_INTEGER),
        (-MAX_INTEGER, FieldType.INTEGER, -MAX_INTEGER),
        (7, FieldType.NUMBER, 7.0),
        (0.1, FieldType.NUMBER, 0.1),
        ("2021-03", FieldType.DATE, "2021-03-01"),
        (False, FieldType.BOOLEAN, False),
    ],
)
def test_value_of_its_type_is_brought_into_one_form(
    value: FieldValue, declared: FieldType, expected: FieldValue
) -> None:
    result = comparable(value, declared)
    assert result == expected
    assert type(result) is type(expected)


def test_negative_zero_is_zero() -> None:
    result = comparable(-0.0, FieldType.NUMBER)
    assert isinstance(result, float)
    assert math.copysign(1, result) == 1


@pytest.mark.parametrize("declared", [FieldType.KEYWORD, FieldType.DATE])
def test_empty_string_is_a_missing_value(declared: FieldType) -> None:
    assert comparable("", declared) is None


@pytest.mark.parametrize(
    ("value", "declared", "expected"),
    [
        (1, FieldType.KEYWORD, "a string"),
        ("1", FieldType.INTEGER, "a whole number"),
        ("", FieldType.INTEGER, "a whole number"),
        (1.5, FieldType.INTEGER, "a whole number"),
        (True, FieldType.INTEGER, "a whole number"),
        (MAX_INTEGER + 1, FieldType.INTEGER, "a whole number"),
        (-MAX_INTEGER - 1, FieldType.INTEGER, "a whole number"),
        (math.inf, FieldType.INTEGER, "a whole number"),
        (math.nan, FieldType.INTEGER, "a whole number"),
        (math.nan, FieldType.NUMBER, "a finite number"),
        (-math.inf, FieldType.NUMBER, "a finite number"),
        (10**400, FieldType.NUMBER, "a finite number"),
        (True, FieldType.NUMBER, "a finite number"),
        (2021, FieldType.DATE, "a date"),
        ("soon", FieldType.DATE, "a date"),
        (1, FieldType.BOOLEAN, "true or false"),
        ("true", FieldType.BOOLEAN, "true or false"),
    ],
)
def test_value_of_another_type_is_refused_in_words(value: FieldValue, declared: FieldType, expected: str) -> None:
    with pytest.raises(ValueError, match=f"^{expected}"):
        comparable(value, declared)


@pytest.mark.parametrize("name", ["a", "unit", "businessUnit", "unit_2", "x" * 63])
def test_plain_names_may_be_declared(name: str) -> None:
    assert is_declarable(name)


@pytest.mark.parametrize("name", ["", "1a", "_a", "a b", "a-b", "a.b", "a`b", "é", "a\n", "x" * 64, *BUILT_IN_FIELDS])
def test_other_names_and_built_in_ones_may_not(name: str) -> None:
    assert not is_declarable(name)
