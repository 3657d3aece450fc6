from typing import Any

import pytest

from services.shared.catalog.collection_settings import CollectionSettings
from services.shared.catalog.profiles import Profile, resolve_settings
from services.shared.index.fields import FieldType
from services.shared.runtime.errors import InvalidInput

FIELDS = {"year": FieldType.INTEGER, "unit": FieldType.KEYWORD}


def resolve(settings: dict[str, Any], profile: Profile = Profile.DOCS) -> CollectionSettings:
    return resolve_settings(profile, FIELDS, settings)


@pytest.mark.parametrize(
    ("profile", "target", "overlap", "minimum"),
    [
        (Profile.DOCS, 400, 50, 100),
        (Profile.PAPER, 600, 100, 100),
        (Profile.LESSON, 400, 50, 0),
        (Profile.ENTRY, 400, 0, 0),
        (Profile.PLAIN, 400, 50, 0),
    ],
)
def test_each_profile_has_its_chunk_sizes(profile: Profile, target: int, overlap: int, minimum: int) -> None:
    chunking = resolve({}, profile).chunking
    assert (chunking.target, chunking.overlap, chunking.minimum) == (target, overlap, minimum)


def test_only_papers_collapse_by_document_and_ask_for_distinct_values() -> None:
    collapsing = [profile for profile in Profile if resolve({}, profile).retrieval.collapse_by_document]
    distinct = {profile: resolve({}, profile).ranking.min_distinct for profile in Profile}

    assert collapsing == [Profile.PAPER]
    assert distinct == {profile: 3 if profile is Profile.PAPER else 0 for profile in Profile}


def test_declared_department_is_diversified_and_only_papers_turn_it_on() -> None:
    fields = {"department": FieldType.KEYWORD}
    ranking = {profile: resolve_settings(profile, fields, {}).ranking for profile in Profile}

    assert {profile: one.mmr for profile, one in ranking.items()} == {
        profile: profile is Profile.PAPER for profile in Profile
    }
    assert {one.diversify_by for one in ranking.values()} == {"department"}


def test_papers_without_an_attribute_are_not_diversified() -> None:
    ranking = resolve({}, Profile.PAPER).ranking
    assert (ranking.mmr, ranking.diversify_by) == (False, None)


def test_papers_with_an_attribute_of_their_own_are_diversified_by_it() -> None:
    ranking = resolve({"ranking": {"diversify_by": "unit"}}, Profile.PAPER).ranking
    assert (ranking.mmr, ranking.diversify_by) == (True, "unit")


def test_papers_that_want_no_attribute_are_not_diversified() -> None:
    fields = {"department": FieldType.KEYWORD}
    ranking = resolve_settings(Profile.PAPER, fields, {"ranking": {"diversify_by": None}}).ranking
    assert (ranking.mmr, ranking.diversify_by) == (False, None)


def test_override_changes_itself_only() -> None:
    changed = resolve({"ranking": {"mmr_lambda": 1}}, Profile.PAPER)
    before = resolve({}, Profile.PAPER)

    assert changed.ranking.mmr_lambda == 1.0
    assert (changed.retrieval, changed.chunking, changed.answer) == (before.retrieval, before.chunking, before.answer)
    assert changed.ranking.min_distinct == before.ranking.min_distinct == 3


def test_lists_of_json_become_tiers_and_synonyms() -> None:
    settings = resolve(
        {
            "ranking": {"recency_tiers": [[2, 1.1], [None, 1]]},
            "retrieval": {"synonyms": {"TOIL": ["time off in lieu"]}},
        }
    )

    assert settings.ranking.recency_tiers == ((2, 1.1), (None, 1.0))
    assert settings.retrieval.synonyms == {"TOIL": ("time off in lieu",)}


def test_recency_is_off_without_tiers() -> None:
    assert resolve({"ranking": {"recency_tiers": []}}).ranking.recency_tiers == ()


def test_arguments_are_not_written_to() -> None:
    overrides = {"ranking": {"mmr_lambda": 0.5}}
    resolve(overrides, Profile.PAPER)
    assert overrides == {"ranking": {"mmr_lambda": 0.5}}
    assert resolve({}, Profile.PAPER).ranking.mmr_lambda == 0.6


@pytest.mark.parametrize(
    ("name", "value", "bound"),
    [
        ("retrieval.rrf_k", 0, "greater than or equal to 1"),
        ("retrieval.rrf_k", 1001, "less than or equal to 1000"),
        ("retrieval.rrf_k", 1.5, "an integer"),
        ("retrieval.rrf_k", "60", "an integer"),
        ("retrieval.rrf_k", None, "an integer"),
        ("retrieval.keyword_weight", -0.1, "greater than or equal to 0"),
        ("retrieval.vector_weight", 10.1, "less than or equal to 10"),
        ("retrieval.depth", 1001, "less than or equal to 1000"),
        ("retrieval.window", 0, "greater than or equal to 1"),
        ("retrieval.collapse_by_document", 1, "true or false"),
        ("retrieval.keyword_gate", 1.1, "less than or equal to 1"),
        ("retrieval.keyword_gate", float("nan"), "finite number"),
        ("retrieval.synonyms", {" ": ["a"]}, "at least 1 character"),
        ("ranking.relevance", "best", "'fused' or 'completed'"),
        ("ranking.recency_places", -1, "greater than or equal to 0"),
        ("ranking.cosine_share", 1.1, "less than or equal to 1"),
        ("ranking.recency_tiers", [[1, 1.2], [5, 1.0]], "rising age, the last one with null"),
        ("ranking.recency_tiers", [[5, 1.2], [1, 1.0], [None, 0.9]], "rising age"),
        ("ranking.recency_tiers", [[1, 1.2], [1, 1.0], [None, 0.9]], "rising age"),
        ("ranking.recency_tiers", [[None, 1.2], [5, 1.0], [None, 0.9]], "rising age"),
        ("ranking.mmr_lambda", 1.01, "less than or equal to 1"),
        ("ranking.mmr_relevance_power", 0.9, "greater than or equal to 1"),
        ("ranking.mmr_cosine_share", -1, "greater than or equal to 0"),
        ("ranking.diversify_by", "colour", "there are: id, title, uri, locale, date, unit, year"),
        ("ranking.min_distinct", 21, "at most min_distinct_within (20)"),
        ("ranking.min_distinct_within", 1001, "less than or equal to 1000"),
        ("ranking.cross_encoder", 1, "true or false"),
        ("ranking.cross_encoder_budget_ms", 0, "greater than or equal to 1"),
        ("ranking.cross_encoder_budget_ms", 10_001, "less than or equal to 10000"),
        ("ranking.unheard_of", 1, "there is no settings.ranking.unheard_of"),
        ("chunking.target", 15, "greater than or equal to 16"),
        ("chunking.overlap", 400, "below target (400)"),
        ("chunking.minimum", 401, "at most target (400)"),
        ("answer.refusal_sentence", "  ", "at least 1 character"),
        ("answer.general_knowledge_allowed", "yes", "true or false"),
        ("answer.max_passage_tokens", 99, "greater than or equal to 100"),
        ("answer.min_confidence", 1.1, "less than or equal to 1"),
        ("answer.same_field", "chapter", "there are: id, title, uri, locale, date, unit, year"),
    ],
)
def test_setting_out_of_bound_is_refused_naming_setting_and_bound(name: str, value: object, bound: str) -> None:
    group, setting = name.split(".")

    with pytest.raises(InvalidInput) as refused:
        resolve({group: {setting: value}})

    assert refused.value.field == f"settings.{name}"
    assert bound in refused.value.message


def test_unknown_group_is_refused() -> None:
    with pytest.raises(InvalidInput, match=r"there is no settings\.rankings"):
        resolve({"rankings": {}})


@pytest.mark.parametrize("value", [None, 3, [], "x"])
@pytest.mark.parametrize("group", ["ranking", "retrieval"])
def test_group_that_is_no_object_is_refused(group: str, value: object) -> None:
    with pytest.raises(InvalidInput, match="should be an object") as refused:
        resolve({group: value})
    assert refused.value.field == f"settings.{group}"


def test_both_legs_cannot_be_without_weight() -> None:
    assert resolve({"retrieval": {"keyword_weight": 0}}).retrieval.keyword_weight == 0
    with pytest.raises(InvalidInput, match="above 0 unless vector_weight is"):
        resolve({"retrieval": {"keyword_weight": 0, "vector_weight": 0}})
