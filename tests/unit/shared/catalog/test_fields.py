import calendar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.shared.catalog.fields import (
    check_date,
    check_document_id,
    check_fields,
    check_locale,
    check_metadata,
    check_text,
)
from services.shared.index.fields import BUILT_IN_FIELDS, MAX_INTEGER, FieldType
from services.shared.runtime.errors import InvalidInput

DECLARED = {kind.value: kind for kind in FieldType}


def refused(name: str, value: object) -> InvalidInput:
    with pytest.raises(InvalidInput) as caught:
        check_metadata(DECLARED, {name: value}, path="documents[3].metadata")
    assert caught.value.field == f"documents[3].metadata.{name}"
    return caught.value


@pytest.mark.parametrize(
    ("name", "value", "stored"),
    [
        ("keyword", "biology", "biology"),
        ("keyword", "", ""),
        ("integer", 2021, 2021),
        ("integer", 2021.0, 2021),
        ("integer", MAX_INTEGER, MAX_INTEGER),
        ("integer", -MAX_INTEGER, -MAX_INTEGER),
        ("number", 3, 3.0),
        ("number", -0.5, -0.5),
        ("number", 10**20, 1e20),
        ("date", "2021", "2021"),
        ("date", "2021-03", "2021-03"),
        ("date", "2024-02-29", "2024-02-29"),
        ("boolean", False, False),
    ],
)
def test_value_of_the_declared_type_is_stored_in_that_type(name: str, value: object, stored: object) -> None:
    checked = check_metadata(DECLARED, {name: value}, path="metadata")[name]

    assert checked == stored
    assert type(checked) is type(stored)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("keyword", 1),
        ("keyword", ["a"]),
        ("keyword", {"a": 1}),
        ("integer", "2021"),
        ("integer", 2021.5),
        ("integer", True),
        ("integer", MAX_INTEGER + 1),
        ("integer", -MAX_INTEGER - 1),
        ("integer", float("inf")),
        ("integer", float("nan")),
        ("number", "3"),
        ("number", True),
        ("number", float("nan")),
        ("number", float("inf")),
        ("number", 10**400),
        ("boolean", 0),
        ("boolean", "true"),
    ],
)
def test_value_of_another_type_is_refused_naming_field_and_declared_type(name: str, value: object) -> None:
    assert f"'{name}' is declared as {name}" in refused(name, value).message


@pytest.mark.parametrize(
    "value", ["", "21", "2021-3", "2021-13", "2021-02-30", "2021-03-01T10:00", "2021/03", " 2021", "٢٠٢١", 2021, "0000"]
)
def test_date_that_does_not_exist_is_refused(value: object) -> None:
    assert "YYYY, YYYY-MM or YYYY-MM-DD" in refused("date", value).message


def test_null_is_a_missing_value() -> None:
    assert check_metadata(DECLARED, {"integer": None, "keyword": "a"}, path="metadata") == {"keyword": "a"}


def test_unknown_field_is_refused_with_the_fields_there_are() -> None:
    assert refused("colour", "red").message.endswith("the declared fields are: boolean, date, integer, keyword, number")


def test_unknown_field_of_a_collection_without_fields_is_refused() -> None:
    with pytest.raises(InvalidInput, match="the declared fields are: none"):
        check_metadata({}, {"year": 2021}, path="metadata")


@given(st.dates())
def test_every_day_and_its_month_and_year_are_dates(day: object) -> None:
    text = str(day)
    for value in (text, text[:7], text[:4]):
        assert check_date(value, field="date") == value


@given(st.integers(1, 9999), st.integers(1, 12))
def test_day_after_the_last_of_a_month_is_no_date(year: int, month: int) -> None:
    past = calendar.monthrange(year, month)[1] + 1
    with pytest.raises(InvalidInput):
        check_date(f"{year:04}-{month:02}-{past:02}", field="date")


def test_declared_fields_get_their_types() -> None:
    assert check_fields({"year": "integer", "unit_2": "keyword"}) == {
        "year": FieldType.INTEGER,
        "unit_2": FieldType.KEYWORD,
    }


@pytest.mark.parametrize("name", BUILT_IN_FIELDS)
def test_built_in_name_cannot_be_declared(name: str) -> None:
    with pytest.raises(InvalidInput, match="is built in") as caught:
        check_fields({name: "keyword"})
    assert caught.value.field == f"fields.{name}"


@pytest.mark.parametrize("name", ["", "Year", "1st", "a-b", "a.b", "jahr_ä", "a" * 64, "_year"])
def test_bad_field_name_is_refused(name: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        check_fields({name: "keyword"})
    assert caught.value.field == f"fields.{name}"


@pytest.mark.parametrize("kind", ["text", "", "INTEGER", None, 3, ["keyword"]])
def test_unknown_type_is_refused_with_the_types_there_are(kind: object) -> None:
    with pytest.raises(InvalidInput, match="keyword, integer, number, date, boolean"):
        check_fields({"year": kind})


def test_too_many_fields_are_refused() -> None:
    check_fields({f"f{n}": "keyword" for n in range(64)})
    with pytest.raises(InvalidInput, match="at most 64"):
        check_fields({f"f{n}": "keyword" for n in range(65)})


@pytest.mark.parametrize("value", ["en", "tr", "fil", "zh-Hans", "en-GB", "zh-Hans-CN"])
def test_language_tag_is_a_locale(value: str) -> None:
    assert check_locale(value, field="locale") == value


@pytest.mark.parametrize("value", ["", "EN", "english", "en_GB", "e", "en-", None, "en\n"])
def test_anything_else_is_no_locale(value: object) -> None:
    with pytest.raises(InvalidInput) as caught:
        check_locale(value, field="documents[0].locale")
    assert caught.value.field == "documents[0].locale"


@pytest.mark.parametrize("value", ["a", "https://example.org/ä?b=c#d", "明月", "x" * 512, "with space"])
def test_any_visible_text_is_an_id(value: str) -> None:
    assert check_document_id(value, field="id") == value


@pytest.mark.parametrize("value", ["", "   ", "x" * 513, "a\nb", "a\x00", "\ud800", 7, None])
def test_blank_long_or_invisible_id_is_refused(value: object) -> None:
    with pytest.raises(InvalidInput) as caught:
        check_document_id(value, field="documents[2].id")
    assert caught.value.field == "documents[2].id"


def test_text_has_a_bound_in_code_points() -> None:
    assert check_text("\U0001f389" * 4, max_length=4, field="documents[0].title") == "\U0001f389" * 4
    with pytest.raises(InvalidInput, match="'title' has 5 characters; at most 4 are taken") as caught:
        check_text("x" * 5, max_length=4, field="documents[0].title")
    assert caught.value.field == "documents[0].title"


def test_u_0000_is_no_text() -> None:
    with pytest.raises(InvalidInput, match=r"U\+0000"):
        check_text("a\0b", max_length=10, field="title")


def test_half_a_surrogate_pair_is_no_text() -> None:
    with pytest.raises(InvalidInput, match="half a surrogate pair"):
        check_text("a\ud800", max_length=4, field="title")


@pytest.mark.parametrize("value", ["x" * 1_025, "\udfff"])
def test_a_keyword_is_bounded_text(value: str) -> None:
    assert check_metadata(DECLARED, {"keyword": "x" * 1_024}, path="metadata")
    refused("keyword", value)


@pytest.mark.parametrize("name", ["\ud800", "n" * 10_000, "a\nb"])
def test_an_unknown_name_is_shown_in_a_form_that_can_be_sent(name: str) -> None:
    with pytest.raises(InvalidInput, match="is not declared") as caught:
        check_metadata(DECLARED, {name: 1}, path="metadata")
    shown = f"{caught.value.field}{caught.value}"
    assert len(shown.encode()) < 500
    assert "\n" not in shown
