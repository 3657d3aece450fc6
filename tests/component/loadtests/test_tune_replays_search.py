"""What a tuning ranks again is what search gives: the same documents in the same order, for random settings."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import date

from loadtests.tune.capture import captured_query
from loadtests.tune.replay import Knobs, replay
from plumbline.ranking.v1 import ranking_pb2
from plumbline.search.v1 import search_pb2
from services.search.condition import Condition
from services.search.convert import query_from_proto
from services.search.domain.term_statistics import TermStatistics
from services.search.legs import Legs
from services.search.ports import EmbeddedQuery
from services.search.query_terms import TermLookup
from services.search.time_limits import TimeLimits
from services.shared.catalog.collection_settings import RankingSettings, RetrievalSettings
from services.shared.catalog.judgments import Judgment
from services.shared.index.chunk import Matrix
from tests.component.search.changing import WORDS, Changing, queries
from tests.component.search.searching import (
    FIELDS,
    GENERATION,
    PATIENT,
    WEIGHTS,
    Searching,
    a_request,
    documents,
    searching,
)

LIMITS = TimeLimits(60, 60, 60, 60, 60, reserve_s=0)
RELEVANCES = {ranking_pb2.RELEVANCE_FUSED: "fused", ranking_pb2.RELEVANCE_COMPLETED: "completed"}


class KnownVectors:
    """An embedder that knows the queries of this test."""

    def __init__(self, vectors: Mapping[str, Matrix]) -> None:
        self._vectors = vectors

    async def embed_query(self, text: str, *, model: str, timeout_s: float, dimensions: int = 0) -> EmbeddedQuery:
        return EmbeddedQuery(self._vectors[text], WEIGHTS)


def knobs_of(request: search_pb2.SearchRequest) -> Knobs:
    """The settings of a request as a collection has them."""
    asked, ranked = request.retrieval, request.ranking
    tiers = tuple((tier.up_to_years if tier.HasField("up_to_years") else None, tier.multiplier)
                  for tier in ranked.recency_tiers)  # fmt: skip
    return Knobs(
        RetrievalSettings(
            rrf_k=asked.rrf_k, keyword_weight=asked.keyword_weight, vector_weight=asked.vector_weight,
            depth=asked.depth, window=asked.window, collapse_by_document=asked.collapse_by_document,
            keyword_gate=asked.keyword_gate,
        ),
        RankingSettings(
            relevance=RELEVANCES[ranked.relevance], cosine_share=ranked.cosine_share, recency_tiers=tiers,
            recency_places=ranked.recency_places, protect_leader=ranked.protect_leader, mmr=ranked.mmr,
            mmr_lambda=ranked.mmr_lambda,
            mmr_relevance_power=ranked.mmr_relevance_power or 1.0,
            mmr_cosine_share=ranked.mmr_cosine_share, diversify_by=ranked.diversify_by,
            min_distinct=ranked.min_distinct, min_distinct_within=ranked.min_distinct_within,
        ),
        date.fromisoformat(ranked.clock_date),
    )  # fmt: skip


async def replayed(service: Searching, request: search_pb2.SearchRequest, vectors: Mapping[str, Matrix]) -> list[str]:
    legs, terms = Legs(service.index, KnownVectors(vectors), LIMITS), TermLookup(service.catalog, LIMITS)
    query, everything = query_from_proto(request), Condition(None, FIELDS)
    # Captured with all vectors and without the gate, which is laid over it.
    asked = replace(query, compares_hits=True, retrieval=replace(query.retrieval, keyword_gate=0.0))
    runs = await legs.run(asked, everything, GENERATION)
    looked_up, _ = await terms.look_up(asked, GENERATION)
    judgment = Judgment("q", query.text, None, None, {})
    captured = captured_query(judgment, asked, runs, looked_up, attribute="kind")
    return [one.document_id for one in replay(captured, knobs_of(request)).shown]


async def test_a_replay_is_the_order_that_search_gives() -> None:
    changing, vectors = Changing(4), queries(seed=4)
    chunks = [chunk for _ in range(40) for chunk in changing.new()]
    frequencies = {token: 5 + place for place, word in enumerate(WORDS) for token in (f"w:{word}", f"s:{word}")}
    async with searching(*chunks, vectors=vectors, **PATIENT) as service:
        service.catalog.statistics["g1"] = TermStatistics(len(chunks), 16 * len(chunks), frequencies)
        for number in range(60):
            settings = dict(changing.settings())
            settings["ranking"].near_duplicate_cosine = 0.0
            settings["retrieval"].keyword_gate = (0.0, 0.6)[number % 2]
            request = a_request(list(vectors)[number % len(vectors)], limit=20, **settings)
            found = documents(await service.stub.Search(request, timeout=60))
            again = await replayed(service, request, vectors)
            # A document stands where its first chunk does; search gives 20 chunks, a replay 20 documents.
            first = list(dict.fromkeys(found))
            assert again[: len(first)] == first
