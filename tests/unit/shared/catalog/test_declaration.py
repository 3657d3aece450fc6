from typing import Any

import pytest

from services.shared.catalog.declaration import Declaration, declare
from services.shared.catalog.profiles import Profile
from services.shared.index.fields import FieldType
from services.shared.runtime.errors import InvalidInput


def declared(name: str = "papers", **parts: Any) -> Declaration:
    return declare(name, **({"profile": "paper", "locale": "en", "fields": {}, "settings": {}} | parts))


def test_declaration_has_its_parts_in_their_types() -> None:
    assert declared(fields={"year": "integer"}, settings={"retrieval": {"depth": 50}}) == Declaration(
        name="papers",
        profile=Profile.PAPER,
        locale="en",
        fields={"year": FieldType.INTEGER},
        settings={"retrieval": {"depth": 50}},
    )


def test_settings_are_compared_as_they_are_stored() -> None:
    tiers = ((1, 1.2), (None, 0.9))
    as_lists = [list(tier) for tier in tiers]

    assert declared(settings={"ranking": {"recency_tiers": tiers}}) == declared(
        settings={"ranking": {"recency_tiers": as_lists}}
    )


@pytest.mark.parametrize("name", ["a", "0", "english-at-work", "a_b", "a" * 63])
def test_name_is_lower_case_letters_digits_hyphens_and_underscores(name: str) -> None:
    assert declared(name).name == name


@pytest.mark.parametrize("name", ["", "-a", "_a", "A", "a b", "ä", "a" * 64, "a\n", "a/b", "../x"])
def test_any_other_name_is_refused(name: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        declared(name)
    assert refused.value.field == "name"


@pytest.mark.parametrize(
    ("part", "value", "field"),
    [
        ("profile", "papers", "profile"),
        ("locale", "English", "locale"),
        ("fields", {"title": "keyword"}, "fields.title"),
        ("settings", {"answer": {"same_field": "unit"}}, "settings.answer.same_field"),
    ],
)
def test_part_that_does_not_hold_is_named(part: str, value: Any, field: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        declared(**{part: value})
    assert refused.value.field == field
