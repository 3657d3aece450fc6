"""Keyword scores that all candidates of a window can be compared by.

An engine scores a chunk with the document frequencies of the last time its index was optimized, and does not score what
it did not find. Computed from the term statistics, which follow every change, both have the score that the engine gives
once its index is optimized.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from services.search.domain.bm25 import Bm25
from services.search.domain.query import Mode
from services.search.domain.window import Candidate, Found, LegRank

# Engines compute in single precision, and an update in between moves a frequency by one.
_AGREEMENT = 0.001
# Hits that tell whether an engine is up to date: all frequencies are off together, or none.
_LOOKED_AT = 3


def with_exact_scores(found: Sequence[Found], analysed: Mapping[str, str], bm25: Bm25) -> list[Found]:
    """What the keyword leg found, best first, by scores of the frequencies of now; ties go to the lower chunk id.

    `analysed` has the tokens of each chunk. The engine's scores stay while those of its first hits agree with the
    computed ones to a thousandth.
    """
    if all(_agree(one.score, bm25.score(analysed[one.chunk_id])) for one in found[:_LOOKED_AT]):
        return list(found)
    exact = [replace(one, score=bm25.score(analysed[one.chunk_id])) for one in found]
    return sorted(exact, key=lambda one: (-one.score, one.chunk_id))


def _agree(given: float, computed: float) -> bool:
    return abs(given - computed) <= _AGREEMENT * max(given, computed)


def with_keyword_scores(window: Iterable[Candidate], analysed: Mapping[str, str], bm25: Bm25) -> list[Candidate]:
    """The candidates, each with the keyword score of its chunk.

    `analysed` has the tokens of every candidate's chunk. Scores that the leg gave stay; a score that is completed comes
    without a rank. Where the keyword leg did not run, nothing is completed.
    """
    return [_completed(candidate, analysed[candidate.chunk_id], bm25) for candidate in window]


def _completed(candidate: Candidate, analysed: str, bm25: Bm25) -> Candidate:
    found = candidate.legs.get(Mode.KEYWORD)
    if found is None or found.score is not None:
        return candidate
    completed = LegRank(score=bm25.score(analysed), completed=True)
    return replace(candidate, legs={**candidate.legs, Mode.KEYWORD: completed})
