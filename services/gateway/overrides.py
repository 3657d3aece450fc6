"""What one request asks for, laid over what its collection has."""

from dataclasses import replace
from typing import Any

from services.gateway.bodies.search import RankingOverrides, RetrievalOverrides
from services.gateway.ports import KnownCollection
from services.shared.catalog.collection_settings import RankingSettings, RetrievalSettings
from services.shared.catalog.profiles import rise_in_age
from services.shared.index.fields import BUILT_IN_FIELDS
from services.shared.runtime.errors import InvalidInput


def retrieval_settings(known: KnownCollection, asked: RetrievalOverrides) -> RetrievalSettings:
    """The retrieval settings that hold for this request. Raises InvalidInput when both legs would weigh nothing."""
    settings: RetrievalSettings = replace(known.settings.retrieval, **_given(asked))
    if settings.keyword_weight == 0 and settings.vector_weight == 0:
        field = "keyword_weight" if asked.keyword_weight is not None else "vector_weight"
        raise InvalidInput("one of the two weights must be above 0", field=f"retrieval.{field}")
    return settings


def ranking_settings(known: KnownCollection, asked: RankingOverrides) -> RankingSettings:
    """The ranking settings that hold for this request.

    Raises InvalidInput for a field to diversify by that the collection does not have, for tiers out of order and for a
    floor that cannot be.
    """
    given = _given(asked)
    given.pop("clock_date", None)
    if asked.recency_tiers is not None:
        given["recency_tiers"] = tuple((up_to, multiplier) for up_to, multiplier in asked.recency_tiers)
        if not rise_in_age(given["recency_tiers"]):
            raise InvalidInput(
                "in order of rising age, the last one with null, or empty", field="ranking.recency_tiers"
            )
    if given.pop("recency", None) is False:
        given["recency_tiers"] = ()
    if "diversify_by" in asked.model_fields_set:
        given["diversify_by"] = asked.diversify_by
    diversity = asked.mmr_lambda is not None or asked.mmr_cosine_share is not None or "diversify_by" in given
    if asked.mmr is None and diversity:
        given["mmr"] = True
    settings: RankingSettings = replace(known.settings.ranking, **given)
    fields = [*BUILT_IN_FIELDS, *sorted(known.collection.declaration.fields)]
    if asked.diversify_by is not None and asked.diversify_by not in fields:
        raise InvalidInput(
            f"there is no field '{asked.diversify_by}'; the fields are: {', '.join(fields)}",
            field="ranking.diversify_by",
        )
    if asked.min_distinct and settings.diversify_by is None:
        raise InvalidInput("give `diversify_by` too: the field whose values are counted", field="ranking.min_distinct")
    if settings.min_distinct > settings.min_distinct_within:
        raise InvalidInput(
            f"should be at most min_distinct_within ({settings.min_distinct_within})", field="ranking.min_distinct"
        )
    return settings


def _given(asked: RetrievalOverrides | RankingOverrides) -> dict[str, Any]:
    return asked.model_dump(exclude_none=True)
