"""The order of one window: relevance, bounded recency, diversity, attribute floor (design section 8.6)."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date

from services.ranking.domain.floor import attribute_floor
from services.ranking.domain.ledger import Place, RankedHit
from services.ranking.domain.mmr import mmr, redundancy_matrix
from services.ranking.domain.recency import age_in_years, bounded_order, multiplier
from services.ranking.domain.relevance import fused_relevance
from services.ranking.domain.window import Matrix, Policy, Window


@dataclass(frozen=True, slots=True)
class Ranking:
    """The hits, best first, and the steps that could not run as asked."""

    hits: tuple[RankedHit, ...]
    degraded: tuple[str, ...]


def rank(window: Window, policy: Policy, *, today: date) -> Ranking:
    """Every candidate of the window once, best first.

    Exact candidates stand before all others; every step runs inside these two parts and never across them.
    Ties go to the earlier fused place in every step.
    """
    hits = _with_relevance(window, policy, today)
    ordered: list[RankedHit] = []
    for exact in (True, False):
        rows = [row for row, hit in enumerate(hits) if hit.candidate.exact is exact]
        ordered += _ordered_part([hits[row] for row in rows], window.vectors[rows], policy, before=len(ordered))
    degraded = ("redundancy",) if policy.mmr and not window.vectors.any(axis=1).all() else ()
    return Ranking(tuple(_with_floor(ordered, policy)), degraded)


def _with_relevance(window: Window, policy: Policy, today: date) -> list[RankedHit]:
    scores = [candidate.fused_score for candidate in window.candidates]
    relevances = fused_relevance(scores, top=window.fused_top, floor=window.fused_floor)
    ages = [age_in_years(candidate.date, today) for candidate in window.candidates]
    return [
        RankedHit(candidate, relevance, age, multiplier(age, policy.recency_tiers), places=())
        for candidate, relevance, age in zip(window.candidates, relevances, ages, strict=True)
    ]


def _ordered_part(hits: list[RankedHit], vectors: Matrix, policy: Policy, *, before: int) -> list[RankedHit]:
    """One part, given in fused order, after recency and diversity; `before` hits stand ahead of the part."""
    hits = _placed(hits, "fused", before)
    # A place, not the hit that recency put there, carries the relevance on: else MMR would undo the boost.
    relevance_of_place = sorted((hit.relevance for hit in hits), reverse=True)
    if hits and policy.recency_tiers:
        keep_first = policy.protect_leader and hits[0].candidate.leads_both_legs
        boosted = [hit.score for hit in hits]
        order = bounded_order(boosted, places=policy.recency_places, keep_first=keep_first)
        hits, vectors = _placed([hits[index] for index in order], "recency", before), vectors[order]
    if hits and policy.mmr:
        attributes = [hit.candidate.attribute for hit in hits]
        redundancy = redundancy_matrix(vectors, attributes, cosine_share=policy.mmr_cosine_share)
        picks = mmr(relevance_of_place, redundancy, trade_off=policy.mmr_lambda, limit=len(hits))
        hits = [replace(hits[pick.index], marginal_gain=pick.gain, redundancy=pick.redundancy) for pick in picks]
        hits = _placed(hits, "mmr", before)
    return hits


def _with_floor(hits: list[RankedHit], policy: Policy) -> list[RankedHit]:
    if policy.min_distinct == 0:
        return hits
    order, lifts = attribute_floor(
        [hit.candidate.attribute for hit in hits],
        parts=[hit.candidate.exact for hit in hits],
        min_distinct=policy.min_distinct,
        within=policy.min_distinct_within,
    )
    reasons = {
        lift.lifted: f"lifted: the first {policy.min_distinct_within} had too few different values" for lift in lifts
    } | {lift.gave_way: f"gave way to {hits[lift.lifted].candidate.id}" for lift in lifts}
    hits = [replace(hits[index], floor_reason=reasons.get(index, "")) for index in order]
    return _placed(hits, "floor", 0)


def _placed(hits: Sequence[RankedHit], step: str, before: int) -> list[RankedHit]:
    return [
        replace(hit, places=(*hit.places, Place(step, before + number))) for number, hit in enumerate(hits, start=1)
    ]
