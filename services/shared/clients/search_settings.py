"""A collection's settings as a search is sent with them."""

from plumbline.ranking.v1 import ranking_pb2
from plumbline.search.v1 import search_pb2
from services.shared.catalog.collection_settings import RankingSettings, RetrievalSettings
from services.shared.catalog.declaration import Declaration
from services.shared.clients.filters import field_types_to_proto

_RELEVANCES = {"fused": ranking_pb2.RELEVANCE_FUSED, "completed": ranking_pb2.RELEVANCE_COMPLETED}


def retrieval_to_proto(settings: RetrievalSettings, declaration: Declaration) -> search_pb2.RetrievalSettings:
    """The retrieval settings, with what the collection declares."""
    return search_pb2.RetrievalSettings(
        locale=declaration.locale,
        fields=field_types_to_proto(declaration.fields),
        rrf_k=settings.rrf_k,
        keyword_weight=settings.keyword_weight,
        vector_weight=settings.vector_weight,
        depth=settings.depth,
        window=settings.window,
        collapse_by_document=settings.collapse_by_document,
        keyword_gate=settings.keyword_gate,
        synonyms=[
            search_pb2.Synonym(term=term, expansions=expansions) for term, expansions in settings.synonyms.items()
        ],
    )


def ranking_to_proto(settings: RankingSettings, *, clock_date: str = "") -> ranking_pb2.RankingSettings:
    """The ranking settings; `clock_date` stands for today, which it is when empty."""
    return ranking_pb2.RankingSettings(
        relevance=_RELEVANCES[settings.relevance],
        cosine_share=settings.cosine_share,
        recency_tiers=[
            ranking_pb2.RecencyTier(up_to_years=up_to_years, multiplier=multiplier)
            for up_to_years, multiplier in settings.recency_tiers
        ],
        recency_places=settings.recency_places,
        protect_leader=settings.protect_leader,
        mmr=settings.mmr,
        mmr_lambda=settings.mmr_lambda,
        mmr_relevance_power=settings.mmr_relevance_power,
        mmr_cosine_share=settings.mmr_cosine_share,
        diversify_by=settings.diversify_by or "",
        # A paper collection asks for three values even where it declares nothing to tell them apart by.
        min_distinct=settings.min_distinct if settings.diversify_by else 0,
        min_distinct_within=settings.min_distinct_within,
        near_duplicate_cosine=settings.near_duplicate_cosine,
        cross_encoder=settings.cross_encoder,
        cross_encoder_budget_ms=settings.cross_encoder_budget_ms,
        clock_date=clock_date,
    )
