"""Messages of the ranking service to and from its domain; bad values become `InvalidInput` naming the field."""

import math
from collections.abc import Sequence
from datetime import date

import numpy as np

from plumbline.embedding.v1 import embedding_pb2
from plumbline.ranking.v1 import ranking_pb2 as pb
from services.ranking.domain.ledger import RankedHit
from services.ranking.domain.relevance import Relevance
from services.ranking.domain.window import Candidate, LegRank, Matrix, Policy, RecencyTier, Vector, Window
from services.ranking.pipeline import Ranking
from services.shared.clients.vectors import unpack_vectors
from services.shared.runtime.errors import InvalidInput

MAX_CANDIDATES = 1000
_RELEVANCES = {pb.RELEVANCE_FUSED: Relevance.FUSED, pb.RELEVANCE_COMPLETED: Relevance.COMPLETED}
_RELEVANCES_TO_PROTO = {relevance: message for message, relevance in _RELEVANCES.items()} | {
    Relevance.CROSS_ENCODER: pb.RELEVANCE_CROSS_ENCODER
}
MAX_BUDGET_MS = 10_000


def window_from_proto(request: pb.RankRequest) -> Window:
    """The window to order. Candidates without a row get a zero vector, which is similar to nothing."""
    if len(request.candidates) > MAX_CANDIDATES:
        raise InvalidInput(f"at most {MAX_CANDIDATES} candidates, got {len(request.candidates)}", field="candidates")
    if not request.fused_top > request.fused_floor or not math.isfinite(request.fused_top):
        raise InvalidInput("fused_top must be finite and above fused_floor", field="fused_top")
    if request.settings.cross_encoder and not request.query.strip():
        raise InvalidInput("the cross-encoder reads it with every passage: send the query's text", field="query")
    return Window(
        candidates=tuple(_candidate_from_proto(candidate, index) for index, candidate in enumerate(request.candidates)),
        vectors=_vectors_from_proto(request),
        fused_top=request.fused_top,
        fused_floor=request.fused_floor,
        query_vector=_query_vector_from_proto(request),
        query=request.query,
    )


def _candidate_from_proto(message: pb.Candidate, index: int) -> Candidate:
    if not message.id:
        raise InvalidInput("a candidate needs an id", field=f"candidates[{index}].id")
    if not math.isfinite(message.fused_score):
        raise InvalidInput("fused_score must be a finite number", field=f"candidates[{index}].fused_score")
    return Candidate(
        id=message.id,
        fused_score=message.fused_score,
        keyword=_leg_from_proto(message.keyword, f"candidates[{index}].keyword"),
        vector=_leg_from_proto(message.vector, f"candidates[{index}].vector"),
        exact=message.exact,
        date=message.date,
        attribute=message.attribute if message.HasField("attribute") else None,
        text_sha256=message.text_sha256,
        text=message.text,
    )


def _leg_from_proto(message: pb.LegRank, path: str) -> LegRank:
    score = message.score if message.HasField("score") else None
    if score is not None and not math.isfinite(score):
        raise InvalidInput("score must be a finite number", field=f"{path}.score")
    return LegRank(message.rank, score, message.completed, message.fused_share)


def _vectors_from_proto(request: pb.RankRequest) -> Matrix:
    wanted = len(request.candidates)
    if not request.HasField("vectors"):
        return np.zeros((wanted, 1), dtype=np.float32)
    rows = unpack_vectors(request.vectors, field="vectors")
    aligned = np.zeros((wanted, rows.shape[1]), dtype=np.float32)
    for index, candidate in enumerate(request.candidates):
        if candidate.HasField("vector_row"):
            if candidate.vector_row >= len(rows):
                raise InvalidInput(f"there are {len(rows)} vectors", field=f"candidates[{index}].vector_row")
            aligned[index] = rows[candidate.vector_row]
    return aligned


def _query_vector_from_proto(request: pb.RankRequest) -> Vector | None:
    if not request.query_vector.rows:
        return None
    rows = unpack_vectors(request.query_vector, field="query_vector")
    if len(rows) != 1:
        raise InvalidInput(f"give one row, not {len(rows)}", field="query_vector")
    if request.HasField("vectors") and rows.shape[1] != request.vectors.dimensions:
        raise InvalidInput(
            f"has {rows.shape[1]} dimensions, the candidates' vectors have {request.vectors.dimensions}",
            field="query_vector",
        )
    return np.asarray(rows[0])


def policy_from_proto(message: pb.RankingSettings) -> Policy:
    """The policy, every constant within its bounds."""
    relevance = _RELEVANCES.get(message.relevance)
    if relevance is None:
        raise InvalidInput("set relevance to RELEVANCE_FUSED or RELEVANCE_COMPLETED", field="settings.relevance")
    if message.cross_encoder:
        _within(message.cross_encoder_budget_ms, 1, MAX_BUDGET_MS, "settings.cross_encoder_budget_ms")
    _within(message.cosine_share, 0, 1, "settings.cosine_share")
    _within(message.near_duplicate_cosine, 0, 1, "settings.near_duplicate_cosine")
    _within(message.mmr_lambda, 0, 1, "settings.mmr_lambda")
    power = message.mmr_relevance_power or 1.0
    _within(power, 1, 10, "settings.mmr_relevance_power")
    _within(message.mmr_cosine_share, 0, 1, "settings.mmr_cosine_share")
    _within(message.recency_places, 0, MAX_CANDIDATES, "settings.recency_places")
    _within(message.min_distinct, 0, 100, "settings.min_distinct")
    if message.min_distinct:
        _within(message.min_distinct_within, 1, MAX_CANDIDATES, "settings.min_distinct_within")
    return Policy(
        relevance=relevance,
        cosine_share=message.cosine_share,
        near_duplicate_cosine=message.near_duplicate_cosine,
        recency_tiers=_tiers_from_proto(message),
        recency_places=message.recency_places,
        protect_leader=message.protect_leader,
        mmr=message.mmr,
        mmr_lambda=message.mmr_lambda,
        mmr_relevance_power=power,
        # Without an attribute to spread, redundancy is the cosine alone (design 8.6c).
        mmr_cosine_share=message.mmr_cosine_share if message.diversify_by else 1.0,
        min_distinct=message.min_distinct,
        min_distinct_within=message.min_distinct_within,
        cross_encoder=message.cross_encoder,
        cross_encoder_budget_s=message.cross_encoder_budget_ms / 1000,
    )


def _tiers_from_proto(message: pb.RankingSettings) -> tuple[RecencyTier, ...]:
    tiers = tuple(
        RecencyTier(tier.up_to_years if tier.HasField("up_to_years") else None, tier.multiplier)
        for tier in message.recency_tiers
    )
    edges = [tier.up_to_years for tier in tiers]
    if any(edge is None for edge in edges[:-1]) or edges[:-1] != sorted(set(edges[:-1])):  # type: ignore[type-var]
        raise InvalidInput("tiers must rise, and only the last may have no edge", field="settings.recency_tiers")
    for index, tier in enumerate(tiers):
        if not 0 < tier.multiplier <= 10:
            raise InvalidInput("a multiplier is above 0 and at most 10", field=f"settings.recency_tiers[{index}]")
    return tiers


def limit_from_proto(request: pb.RankRequest) -> int:
    """The places that diversity has to fill; 0 is all."""
    _within(request.limit, 0, MAX_CANDIDATES, "limit")
    return request.limit


def _within(value: float, low: float, high: float, field: str) -> None:
    if not low <= value <= high:  # NaN fails too
        raise InvalidInput(f"must be from {low} to {high}, got {value}", field=field)


def day_from_proto(text: str, *, today: date) -> date:
    """The day from which age is counted; `today` when none is given."""
    if not text:
        return today
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise InvalidInput("must be a day, YYYY-MM-DD", field="settings.clock_date") from None


def pairs_to_proto(query: str, passages: Sequence[str]) -> embedding_pb2.ScoreRequest:
    """The request to read a query with each passage, by the only cross-encoder that there is."""
    return embedding_pb2.ScoreRequest(
        pairs=[embedding_pb2.ScorePair(query=query, passage=passage) for passage in passages]
    )


def ranking_to_proto(ranking: Ranking, *, with_ledgers: bool) -> pb.RankResponse:
    """The ordered window; without ledgers only their duplicates are told."""
    to_proto = _hit_to_proto if with_ledgers else _plain_hit_to_proto
    return pb.RankResponse(
        ranked=[to_proto(hit) for hit in ranking.hits], degraded=ranking.degraded, rank_ms=ranking.order_s * 1000
    )


def _plain_hit_to_proto(hit: RankedHit) -> pb.Ranked:
    ledger = pb.Ledger(duplicates=hit.duplicates) if hit.duplicates else None
    return pb.Ranked(id=hit.candidate.id, score=hit.score, ledger=ledger)


def _hit_to_proto(hit: RankedHit) -> pb.Ranked:
    ledger = pb.Ledger(
        keyword=_leg_to_proto(hit.candidate.keyword),
        vector=_leg_to_proto(hit.candidate.vector),
        fused_score=hit.candidate.fused_score,
        exact=hit.candidate.exact,
        relevance=hit.relevance,
        relevance_kind=_RELEVANCES_TO_PROTO[hit.relevance_kind],
        age_years=hit.age_years,
        multiplier=hit.multiplier,
        marginal_gain=hit.marginal_gain,
        redundancy=hit.redundancy,
        places=[pb.Place(step=place.step, place=place.place) for place in hit.places],
        floor_reason=hit.floor_reason,
        duplicates=hit.duplicates,
        cross_encoder_score=hit.pair_score,
    )
    return pb.Ranked(id=hit.candidate.id, score=hit.score, ledger=ledger)


def _leg_to_proto(leg: LegRank) -> pb.LegRank:
    return pb.LegRank(rank=leg.rank, score=leg.score, completed=leg.completed, fused_share=leg.fused_share)
