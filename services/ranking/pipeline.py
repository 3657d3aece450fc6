"""The order of one window: relevance, bounded recency, diversity, attribute floor (design section 8.6).

Everything but the cross-encoder's scores is computed here, by `rank`; `RankingPipeline` asks for those first.
"""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date

import structlog

from services.ranking.domain.floor import Lift, attribute_floor
from services.ranking.domain.ledger import Place, RankedHit
from services.ranking.domain.mmr import Pick, mmr
from services.ranking.domain.near_duplicates import collapse
from services.ranking.domain.recency import age_in_years, bounded_order, multiplier
from services.ranking.domain.relevance import Relevance, completed_relevance, fused_relevance, sigmoid_relevance
from services.ranking.domain.window import Policy, Window
from services.ranking.ports import PairScorer
from services.shared.cosines import cosines_with
from services.shared.runtime.call import current_call
from services.shared.runtime.errors import PlumblineError

log = structlog.get_logger()

# Of a call's time, kept from the cross-encoder for ordering 1,000 candidates and sending them.
_RESERVE_S = 0.1

# Candidates by their indices in the window, best first: the exact ones, and the others. No step moves one across.
_Parts = list[list[int]]


@dataclass(frozen=True, slots=True)
class Ranking:
    """The hits, best first, the steps that could not run as asked, sorted, and seconds.

    `pairs_s` is None where the cross-encoder was not asked.
    """

    hits: tuple[RankedHit, ...]
    degraded: tuple[str, ...]
    order_s: float = 0.0
    pairs_s: float | None = None


class RankingPipeline:
    """Orders windows; `scorer` reads the query with each passage where a policy asks for that."""

    def __init__(self, scorer: PairScorer) -> None:
        self._scorer = scorer

    async def rank(self, window: Window, policy: Policy, *, today: date, limit: int = 0) -> Ranking:
        """As `rank`, by the cross-encoder's scores where the policy asks for them and they come in time."""
        began = time.perf_counter()
        scores, skipped = await self._pair_scores_or_none(window, policy)
        began_ordering = time.perf_counter()
        ranking = rank(window, policy, today=today, limit=limit, pair_scores=scores)
        return replace(
            ranking,
            degraded=tuple(sorted({*ranking.degraded, *(("cross_encoder",) if skipped else ())})),
            order_s=time.perf_counter() - began_ordering,
            pairs_s=began_ordering - began if scores or skipped else None,
        )

    async def _pair_scores_or_none(self, window: Window, policy: Policy) -> tuple[Sequence[float] | None, bool]:
        """A score for every candidate, and whether they had to be done without."""
        if not (policy.cross_encoder and window.candidates):
            return None, False
        call = current_call()
        budget_s = policy.cross_encoder_budget_s
        left_s = budget_s if call is None else min(budget_s, call.remaining_s() - _RESERVE_S)
        if left_s <= 0:
            return None, True
        try:
            passages = [candidate.text for candidate in window.candidates]
            return await self._scorer.score(window.query, passages, timeout_s=left_s), False
        except PlumblineError as failure:
            log.warning("cross_encoder_skipped", reason=failure.message)
            return None, True


def rank(
    window: Window, policy: Policy, *, today: date, limit: int = 0, pair_scores: Sequence[float] | None = None
) -> Ranking:
    """Every candidate of the window once, less the near-duplicates that another one stands for; best first.

    Exact candidates stand before all others; every step runs inside these two parts and never across them.
    Ties go to the earlier fused place in every step. MMR picks the first `limit` places, 0 is all; the hits behind them
    keep the order before it. `pair_scores`, a cross-encoder's of all candidates, tell relevance where they are given.
    """
    window = _with_cosines(window)
    relevance, kind = _relevance(window, policy, pair_scores)
    ages = [age_in_years(candidate.date, today) for candidate in window.candidates]
    multipliers = [multiplier(age, policy.recency_tiers) for age in ages]

    parts: _Parts = [
        [index for index, candidate in enumerate(window.candidates) if candidate.exact is exact]
        for exact in (True, False)
    ]
    places = {"fused": _places(parts)}
    if kind is not Relevance.FUSED:
        parts = [sorted(part, key=lambda index: -relevance[index]) for part in parts]
        places["relevance" if kind is Relevance.COMPLETED else "cross_encoder"] = _places(parts)
    parts, duplicates = _without_near_duplicates(parts, window, policy)
    # A place, not the hit that recency put there, carries the relevance on: else MMR would undo the boost.
    relevance_of_place = [sorted((relevance[index] for index in part), reverse=True) for part in parts]
    if policy.recency_tiers:
        finals = [value * factor for value, factor in zip(relevance, multipliers, strict=True)]
        parts = [_by_recency(part, finals, window, policy) for part in parts]
        places["recency"] = _places(parts)
    picks: dict[int, Pick] = {}
    if policy.mmr:
        parts, picks = _diversified(parts, relevance_of_place, window, policy, limit)
        places["mmr"] = _places(parts)
    order = [index for part in parts for index in part]
    reasons: Mapping[int, str] = {}
    if policy.min_distinct:
        order, reasons = _with_floor(order, window, policy)
        places["floor"] = _places([order])

    hits = tuple(
        RankedHit(
            candidate=window.candidates[index],
            relevance=relevance[index],
            relevance_kind=kind,
            age_years=ages[index],
            multiplier=multipliers[index],
            places=tuple(Place(step, at[index]) for step, at in places.items()),
            marginal_gain=picks[index].gain if index in picks else None,
            redundancy=picks[index].redundancy if index in picks else None,
            floor_reason=reasons.get(index, ""),
            duplicates=tuple(window.candidates[other].id for other in duplicates.get(index, ())),
            pair_score=pair_scores[index] if pair_scores else None,
        )
        for index in order
    )
    degraded = ("redundancy",) if policy.mmr and not window.vectors.any(axis=1).all() else ()
    return Ranking(hits, degraded)


def _with_cosines(window: Window) -> Window:
    """The window with the cosine of every candidate that has a vector, where the caller did not complete them."""
    if all(candidate.vector.score is not None for candidate in window.candidates):
        return window
    cosines = cosines_with(window.vectors, window.query_vector)
    return replace(
        window,
        candidates=tuple(
            replace(candidate, vector=replace(candidate.vector, score=cosine, completed=True))
            if candidate.vector.score is None and cosine is not None
            else candidate
            for candidate, cosine in zip(window.candidates, cosines, strict=True)
        ),
    )


def _relevance(window: Window, policy: Policy, pair_scores: Sequence[float] | None) -> tuple[list[float], Relevance]:
    """Relevance by the cross-encoder, or by both raw scores where that is asked for and all are known, or as fused."""
    if pair_scores:
        return sigmoid_relevance(pair_scores), Relevance.CROSS_ENCODER
    keyword = [candidate.keyword.score for candidate in window.candidates if candidate.keyword.score is not None]
    cosines = [candidate.vector.score for candidate in window.candidates if candidate.vector.score is not None]
    if policy.relevance is Relevance.COMPLETED and len(keyword) == len(cosines) == len(window.candidates):
        return completed_relevance(keyword, cosines, cosine_share=policy.cosine_share), Relevance.COMPLETED
    fused = [candidate.fused_score for candidate in window.candidates]
    return fused_relevance(fused, top=window.fused_top, floor=window.fused_floor), Relevance.FUSED


def _without_near_duplicates(
    parts: _Parts, window: Window, policy: Policy
) -> tuple[_Parts, Mapping[int, tuple[int, ...]]]:
    """The parts without hits that an earlier one stands for, and for whom each of the others stands."""
    if not policy.near_duplicate_cosine:
        return parts, {}
    order = [index for part in parts for index in part]
    texts = [window.candidates[index].text_sha256 for index in order]
    stay = collapse(texts, window.vectors[order], least_cosine=policy.near_duplicate_cosine)
    duplicates = {order[first]: tuple(order[other] for other in others) for first, others in stay}
    return [[index for index in part if index in duplicates] for part in parts], duplicates


def _by_recency(part: Sequence[int], finals: Sequence[float], window: Window, policy: Policy) -> list[int]:
    if not part:
        return []
    keep_first = policy.protect_leader and window.candidates[part[0]].leads_both_legs
    order = bounded_order([finals[index] for index in part], places=policy.recency_places, keep_first=keep_first)
    return [part[place] for place in order]


def _diversified(
    parts: _Parts, relevance_of_place: Sequence[Sequence[float]], window: Window, policy: Policy, limit: int
) -> tuple[_Parts, dict[int, Pick]]:
    """The parts in the order of their picks, and every pick by its candidate."""
    picked: dict[int, Pick] = {}
    diversified = []
    open_places = limit or len(window.candidates)
    for part, relevance in zip(parts, relevance_of_place, strict=True):
        picks = mmr(
            [value**policy.mmr_relevance_power for value in relevance],
            window.vectors[part],
            [window.candidates[index].attribute for index in part],
            trade_off=policy.mmr_lambda,
            cosine_share=policy.mmr_cosine_share,
            limit=open_places,
        )
        open_places -= len(picks)
        chosen = {part[pick.index]: pick for pick in picks}
        picked |= chosen
        diversified.append([*chosen, *(index for index in part if index not in chosen)])
    return diversified, picked


def _with_floor(order: list[int], window: Window, policy: Policy) -> tuple[list[int], Mapping[int, str]]:
    """The order with the attribute floor, and why it moved a hit."""
    moved, lifts = attribute_floor(
        [window.candidates[index].attribute for index in order],
        parts=[window.candidates[index].exact for index in order],
        min_distinct=policy.min_distinct,
        within=policy.min_distinct_within,
    )
    reasons: dict[int, str] = {}
    for lift in lifts:
        reasons |= _reasons(lift, order, window, policy)
    return [order[place] for place in moved], reasons


def _reasons(lift: Lift, order: Sequence[int], window: Window, policy: Policy) -> dict[int, str]:
    lifted, gave_way = order[lift.lifted], order[lift.gave_way]
    return {
        lifted: f"lifted: the first {policy.min_distinct_within} had too few different values",
        gave_way: f"gave way to {window.candidates[lifted].id}",
    }


def _places(parts: _Parts) -> dict[int, int]:
    """The place of every candidate, from 1 over the whole window."""
    return {index: place for place, index in enumerate((index for part in parts for index in part), start=1)}
