"""The window: what the legs found, fused, the exact hits first, cut to what is ranked and can be paged."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

from services.search.domain.collapse import chunks_by_document
from services.search.domain.cursor import Also
from services.search.domain.exact_tier import exact_first
from services.search.domain.fusion import Ballot, Fused, reciprocal_rank_fusion
from services.search.domain.query import Mode


@dataclass(frozen=True, slots=True)
class Found:
    """A chunk that a leg found, with the leg's raw score."""

    chunk_id: str
    document_id: str
    score: float


@dataclass(frozen=True, slots=True)
class Leg:
    """What the KEYWORD or the VECTOR leg found, best first, and what its votes weigh."""

    mode: Mode
    found: Sequence[Found]
    weight: float = 1.0


@dataclass(frozen=True, slots=True)
class LegRank:
    """What one leg knows of a candidate: its rank from 1, or 0 when the leg did not find it.

    A `completed` score was computed afterwards, for a candidate that the leg did not find.
    """

    rank: int = 0
    score: float | None = None
    fused_share: float = 0.0
    completed: bool = False


@dataclass(frozen=True, slots=True)
class Candidate:
    """A chunk of the window, standing for its document where hits are documents; `legs` holds those that ran."""

    chunk_id: str
    fused_score: float
    legs: Mapping[Mode, LegRank]
    exact: bool
    also: tuple[Also, ...] = ()


def window_of_chunks(legs: Sequence[Leg], *, exact: frozenset[str], k: int, size: int) -> list[Candidate]:
    """The first `size` chunks: those in `exact` before the others, within each part in fused order."""
    scores = {leg.mode: {found.chunk_id: found.score for found in leg.found} for leg in legs}
    order = exact_first(_fused_chunks(legs, k), lambda fused: fused.key in exact)
    return [_candidate(fused.key, fused, scores, exact) for fused in order[:size]]


def window_of_documents(
    legs: Sequence[Leg], *, exact: frozenset[str], k: int, size: int, depth: int
) -> list[Candidate]:
    """The first `size` documents, in the order of `window_of_chunks`.

    A document has one vote per leg, for the place of its best chunk among the leg's first `depth` documents. The chunk
    that stands for it is its first one in the order of chunks, exact ones first; a document is exact when that chunk
    is. Its others are listed under it with their places in the fused order of chunks.
    """
    fused_chunks = _fused_chunks(legs, k)
    place_of = {fused.key: place for place, fused in enumerate(fused_chunks, start=1)}
    document_of = {found.chunk_id: found.document_id for leg in legs for found in leg.found}
    order = exact_first([fused.key for fused in fused_chunks], lambda chunk_id: chunk_id in exact)
    chunks_of = chunks_by_document(order, document_of)
    scores = {leg.mode: _best_of_documents(leg, depth) for leg in legs}
    ballots = [Ballot(tuple(scores[leg.mode]), leg.weight) for leg in legs]
    documents = exact_first(reciprocal_rank_fusion(ballots, k=k), lambda fused: chunks_of[fused.key][0] in exact)
    window = []
    for fused in documents[:size]:
        first, *others = chunks_of[fused.key]
        also = tuple(Also(chunk_id, place_of[chunk_id]) for chunk_id in others)
        window.append(_candidate(first, fused, scores, exact, also))
    return window


def _fused_chunks(legs: Sequence[Leg], k: int) -> list[Fused]:
    return reciprocal_rank_fusion([Ballot([found.chunk_id for found in leg.found], leg.weight) for leg in legs], k=k)


def _best_of_documents(leg: Leg, depth: int) -> dict[str, float]:
    """The leg's first `depth` documents in its order, each with the score of its best chunk."""
    best: dict[str, float] = {}
    for found in leg.found:
        best.setdefault(found.document_id, found.score)
    return dict(islice(best.items(), depth))


def _candidate(
    chunk_id: str,
    fused: Fused,
    scores: Mapping[Mode, Mapping[str, float]],
    exact: frozenset[str],
    also: tuple[Also, ...] = (),
) -> Candidate:
    legs = {
        mode: LegRank(rank, found.get(fused.key), share)
        for (mode, found), rank, share in zip(scores.items(), fused.ranks, fused.shares, strict=True)
    }
    return Candidate(chunk_id, fused.score, legs, chunk_id in exact, also)
