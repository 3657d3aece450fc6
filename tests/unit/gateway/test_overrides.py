from typing import Any

import pytest

from services.gateway.bodies.search import RankingOverrides, RetrievalOverrides
from services.gateway.overrides import ranking_settings, retrieval_settings
from services.shared.catalog.collection_settings import RankingSettings, RetrievalSettings
from services.shared.runtime.errors import InvalidInput
from tests.unit.gateway.collection import known


def ranked(asked: dict[str, Any], **declared: Any) -> RankingSettings:
    return ranking_settings(known(**declared), RankingOverrides.model_validate(asked))


def retrieved(asked: dict[str, Any], **declared: Any) -> RetrievalSettings:
    return retrieval_settings(known(**declared), RetrievalOverrides.model_validate(asked))


def test_a_request_that_asks_for_nothing_leaves_everything_as_it_is() -> None:
    settings = {"ranking": {"mmr_lambda": 0.3}, "retrieval": {"depth": 9}}
    found = known(settings=settings)
    assert ranking_settings(found, RankingOverrides()) == found.settings.ranking
    assert retrieval_settings(found, RetrievalOverrides()) == found.settings.retrieval


def test_null_is_as_the_collection_has_it() -> None:
    assert ranked({"lambda": None, "recency": None}) == known().settings.ranking


def test_what_is_given_wins_over_the_collection() -> None:
    assert retrieved({"depth": 5}, settings={"retrieval": {"depth": 9, "rrf_k": 3}}).depth == 5
    assert retrieved({"depth": 5}, settings={"retrieval": {"depth": 9, "rrf_k": 3}}).rrf_k == 3


@pytest.mark.parametrize(
    "asked", [{"lambda": 0.3}, {"mmr_cosine_share": 0.3}, {"diversify_by": "locale"}, {"diversify_by": None}]
)
def test_asking_for_diversity_switches_it_on(asked: dict[str, Any]) -> None:
    assert not known().settings.ranking.mmr
    assert ranked(asked).mmr


def test_diversity_stays_off_when_the_request_says_so() -> None:
    assert not ranked({"lambda": 0.3, "mmr": False}).mmr


def test_diversify_by_null_is_the_cosine_alone() -> None:
    assert ranked({}).diversify_by == "department"
    assert ranked({"diversify_by": None}).diversify_by is None


def test_recency_can_be_switched_off() -> None:
    assert ranked({}).recency_tiers
    assert ranked({"recency": False}).recency_tiers == ()


def test_a_field_that_the_collection_does_not_have_is_named_with_those_that_it_has() -> None:
    with pytest.raises(InvalidInput, match="department") as raised:
        ranked({"diversify_by": "faculty"})
    assert raised.value.field == "ranking.diversify_by"


@pytest.mark.parametrize(
    "asked", [{"min_distinct": 2, "diversify_by": None}, {"min_distinct": 5, "min_distinct_within": 4}]
)
def test_a_floor_that_cannot_be_is_refused(asked: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput) as raised:
        ranked(asked)
    assert raised.value.field == "ranking.min_distinct"


def test_one_leg_may_weigh_nothing_but_not_both() -> None:
    assert retrieved({"vector_weight": 0}).keyword_weight == 1
    with pytest.raises(InvalidInput) as raised:
        retrieved({"vector_weight": 0}, settings={"retrieval": {"keyword_weight": 0}})
    assert raised.value.field == "retrieval.vector_weight"


def test_every_constant_of_recency_can_be_asked_for() -> None:
    asked = {"recency_tiers": [[2, 1.5], [None, 0.5]], "recency_places": 7, "protect_leader": False}
    settings = ranked(asked)
    assert settings.recency_tiers == ((2, 1.5), (None, 0.5))
    assert (settings.recency_places, settings.protect_leader) == (7, False)
    assert ranked({"recency_tiers": []}).recency_tiers == ()


@pytest.mark.parametrize("tiers", [[[5, 1.2], [1, 1.0], [None, 0.9]], [[1, 1.2]], [[None, 1.0], [1, 1.2]]])
def test_tiers_out_of_order_are_refused(tiers: list[Any]) -> None:
    with pytest.raises(InvalidInput) as raised:
        ranked({"recency_tiers": tiers})
    assert raised.value.field == "ranking.recency_tiers"


@pytest.mark.parametrize("tiers", [[[1, 0.05], [None, 1.0]], [[-1, 1.0], [None, 1.0]], [[1, "x"], [None, 1.0]], [[1]]])
def test_a_tier_out_of_its_bounds_is_refused(tiers: list[Any]) -> None:
    with pytest.raises(ValueError, match="recency_tiers"):
        RankingOverrides.model_validate({"recency_tiers": tiers})
