"""Ranks captured queries again with other settings, by the functions that search and ranking themselves use. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date
from functools import cached_property
from typing import Any

import numpy as np

import services.ranking.domain.window as ranking
from loadtests.quality.stages import Found
from loadtests.tune.captured import CapturedQuery
from services.ranking.convert import policy_from_proto
from services.ranking.domain.window import Policy
from services.ranking.pipeline import rank
from services.search.domain.fusion import highest_score, score_below
from services.search.domain.query import Mode
from services.search.domain.window import Candidate, Leg, LegRank, window_of_chunks, window_of_documents
from services.shared.catalog.collection_settings import RankingSettings, RetrievalSettings
from services.shared.clients.search_settings import ranking_to_proto
from services.shared.index.chunk import Matrix

# Places that are looked at.
SHOWN = 20


@dataclass(frozen=True)
class Knobs:
    """The settings by which queries are ranked; `today` is the day from which age is counted."""

    retrieval: RetrievalSettings
    ranking: RankingSettings
    today: date

    @cached_property
    def policy(self) -> Policy:
        """The ranking settings as the ranking service reads them."""
        return policy_from_proto(ranking_to_proto(self.ranking))

    def changed(self, **settings: Any) -> "Knobs":
        """With other values of these settings, whichever of the groups has them. Raises ValueError for any other."""
        retrieval = {name: value for name, value in settings.items() if hasattr(self.retrieval, name)}
        others = {name: value for name, value in settings.items() if name not in retrieval}
        return Knobs(replace(self.retrieval, **retrieval), replace(self.ranking, **others), self.today)


@dataclass(frozen=True, slots=True)
class Replayed:
    """The first documents, best first, the mean cosine of two of them, and the values that the whole window holds."""

    shown: tuple[Found, ...]
    similarity: float | None
    window_values: int


def replay(query: CapturedQuery, knobs: Knobs) -> Replayed:
    """The first SHOWN documents as search would give them with these settings."""
    candidates = window_of(query, knobs.retrieval)
    ordered = rank(ranking_window(query, candidates, knobs.retrieval), knobs.policy, today=knobs.today, limit=SHOWN)
    shown: dict[str, tuple[Found, int]] = {}
    for hit in ordered.hits:
        chunk = query.chunks[hit.candidate.id]
        shown.setdefault(chunk.document_id, (Found(chunk.document_id, chunk.attribute, hit.age_years), chunk.row))
    first = list(shown.values())[:SHOWN]
    values = {query.chunks[one.chunk_id].attribute for one in candidates} - {None}
    return Replayed(
        tuple(one for one, _ in first), mean_similarity(query.vectors[[row for _, row in first]]), len(values)
    )


def window_of(query: CapturedQuery, retrieval: RetrievalSettings) -> list[Candidate]:
    """The fused window, in which every candidate has both scores where both are known."""
    weights = {Mode.KEYWORD: retrieval.keyword_weight, Mode.VECTOR: retrieval.vector_weight}
    legs = [Leg(mode, found, weights[mode]) for mode, found in query.legs.items() if weights[mode] > 0]
    if retrieval.keyword_gate:
        legs = [_gated(leg, query, retrieval.keyword_gate) for leg in legs]
    k, size = retrieval.rrf_k, retrieval.window
    if retrieval.collapse_by_document:
        return window_of_documents(legs, exact=query.exact, k=k, size=size, depth=retrieval.depth)
    return window_of_chunks(legs, exact=query.exact, k=k, size=size)


def _gated(leg: Leg, query: CapturedQuery, gate: float) -> Leg:
    if leg.mode is not Mode.KEYWORD:
        return leg
    return replace(leg, found=[one for one in leg.found if query.chunks[one.chunk_id].mass >= gate])


def ranking_window(
    query: CapturedQuery, candidates: Sequence[Candidate], retrieval: RetrievalSettings
) -> ranking.Window:
    """The window as the ranking service gets it."""
    weights = [weight for weight in (retrieval.keyword_weight, retrieval.vector_weight) if weight > 0]
    chunks = [query.chunks[candidate.chunk_id] for candidate in candidates]
    return ranking.Window(
        candidates=tuple(
            ranking.Candidate(
                id=candidate.chunk_id,
                fused_score=candidate.fused_score,
                keyword=_leg(candidate, Mode.KEYWORD, chunk.keyword_score),
                vector=_leg(candidate, Mode.VECTOR, chunk.cosine),
                exact=candidate.exact,
                date=chunk.date,
                attribute=chunk.attribute,
            )
            for candidate, chunk in zip(candidates, chunks, strict=True)
        ),
        vectors=query.vectors[[chunk.row for chunk in chunks]],
        fused_top=highest_score(weights, k=retrieval.rrf_k),
        fused_floor=score_below(weights, k=retrieval.rrf_k, depth=retrieval.depth),
    )


def _leg(candidate: Candidate, mode: Mode, completed: float | None) -> ranking.LegRank:
    """A score is completed where the leg ran."""
    leg = candidate.legs.get(mode, LegRank())
    if leg.score is not None or mode not in candidate.legs:
        return ranking.LegRank(leg.rank, leg.score, False, leg.fused_share)
    return ranking.LegRank(leg.rank, completed, completed is not None, leg.fused_share)


def mean_similarity(vectors: Matrix) -> float | None:
    """The mean cosine over all pairs of rows; None for fewer than two."""
    count = len(vectors)
    if count < 2:
        return None
    total = float((vectors @ vectors.T).sum() - np.square(vectors).sum())
    return total / (count * (count - 1))
