"""The defaults of each profile, and how a collection's own settings are laid over them. Pure."""

import json
import math
from collections.abc import Mapping
from enum import StrEnum
from itertools import pairwise
from typing import Any, TypeAlias

from pydantic import TypeAdapter, ValidationError

from services.shared.catalog.collection_settings import CollectionSettings, RecencyTier
from services.shared.catalog.plain_faults import plain
from services.shared.index.fields import BUILT_IN_FIELDS, FieldType
from services.shared.runtime.errors import InvalidInput

# Only what differs from the profile, as its JSON: {"ranking": {"mmr_lambda": 0.7}}.
Overrides: TypeAlias = Mapping[str, Any]


class Profile(StrEnum):
    """What a collection holds."""

    DOCS = "docs"  # documentation: pages with headings
    PAPER = "paper"  # papers: one hit per paper, spread over an attribute, newer first
    LESSON = "lesson"  # a course: a card is one chunk
    ENTRY = "entry"  # a dictionary: an entry with its example is never cut
    PLAIN = "plain"  # text without structure, measured in characters


_DEFAULTS: Mapping[Profile, Mapping[str, Mapping[str, Any]]] = {
    Profile.DOCS: {},
    Profile.PAPER: {
        "retrieval": {"collapse_by_document": True},
        "ranking": {"min_distinct": 3},
        "chunking": {"target": 600, "overlap": 100, "minimum": 100},
    },
    Profile.LESSON: {"chunking": {"target": 400, "overlap": 50, "minimum": 0}},
    Profile.ENTRY: {"chunking": {"target": 400, "overlap": 0, "minimum": 0}},
    Profile.PLAIN: {"chunking": {"target": 400, "overlap": 50, "minimum": 0}},
}
_ATTRIBUTE = "department"  # what a collection is spread over when it declares it and says nothing else
_SETTINGS = TypeAdapter(CollectionSettings)


def resolve_settings(profile: Profile, fields: Mapping[str, FieldType], overrides: Overrides) -> CollectionSettings:
    """The settings that hold: `overrides` over the profile's defaults over those of `collection_settings`.

    Raises InvalidInput naming `settings.<group>.<name>` and its bound.
    """
    merged: dict[str, Any] = {group: dict(values) for group, values in _DEFAULTS[profile].items()}
    ranking = merged.setdefault("ranking", {})
    ranking["diversify_by"] = _ATTRIBUTE if fields.get(_ATTRIBUTE) is FieldType.KEYWORD else None
    for group, values in overrides.items():
        merged[group] = {**merged.get(group, {}), **values} if isinstance(values, Mapping) else values
    if isinstance(ranking := merged["ranking"], dict):
        # Diversity helps a list of papers and hurts answers and lookups, where neighbours belong together.
        ranking.setdefault("mmr", profile is Profile.PAPER and ranking["diversify_by"] is not None)
    try:
        # As JSON, because there a list may stand for a tuple although the check is strict.
        settings = _SETTINGS.validate_json(json.dumps(merged))
    except ValidationError as error:
        raise _named(error) from None
    _check_together(settings, fields)
    return settings


def _named(error: ValidationError) -> InvalidInput:
    """The first fault, with the setting's path."""
    fault = error.errors(include_url=False)[0]
    field = ".".join(["settings", *(str(step) for step in fault["loc"][:2])])
    if fault["type"] == "unexpected_keyword_argument":
        return InvalidInput(f"there is no {field}", field=field)
    return InvalidInput(f"{field}: {plain(fault)}", field=field)


def _check_together(settings: CollectionSettings, fields: Mapping[str, FieldType]) -> None:
    """Raises InvalidInput for settings that are each within their bound and cannot be together."""
    retrieval, ranking, chunking = settings.retrieval, settings.ranking, settings.chunking
    known = {*fields, *BUILT_IN_FIELDS, None}
    named = f"a declared or built-in field; there are: {', '.join([*BUILT_IN_FIELDS, *sorted(fields)])}"
    rules = [
        (
            "retrieval.keyword_weight",
            retrieval.keyword_weight > 0 or retrieval.vector_weight > 0,
            "above 0 unless vector_weight is",
        ),
        (
            "ranking.recency_tiers",
            rise_in_age(ranking.recency_tiers),
            "in order of rising age, the last one with null, or empty",
        ),
        ("ranking.diversify_by", ranking.diversify_by in known, named),
        (
            "ranking.min_distinct",
            ranking.min_distinct <= ranking.min_distinct_within,
            f"at most min_distinct_within ({ranking.min_distinct_within})",
        ),
        ("chunking.overlap", chunking.overlap < chunking.target, f"below target ({chunking.target})"),
        ("chunking.minimum", chunking.minimum <= chunking.target, f"at most target ({chunking.target})"),
        ("answer.same_field", settings.answer.same_field in known, named),
    ]
    for name, holds, rule in rules:
        if not holds:
            raise InvalidInput(f"settings.{name}: should be {rule}", field=f"settings.{name}")


def rise_in_age(tiers: tuple[RecencyTier, ...]) -> bool:
    """Whether there are no tiers, or ages rise strictly and only the last tier is without one."""
    ages = [math.inf if age is None else age for age, _ in tiers]
    return not ages or (ages[-1] == math.inf and all(younger < older for younger, older in pairwise(ages)))
