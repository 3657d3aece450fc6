"""Keyword scores of the candidates that the keyword leg did not find: ranking compares all hits by both raw scores."""

from collections.abc import Iterable, Mapping
from dataclasses import replace

from services.search.domain.bm25 import bm25
from services.search.domain.query import Mode
from services.search.domain.term_statistics import TermStatistics
from services.search.domain.window import Candidate, LegRank


def with_keyword_scores(
    window: Iterable[Candidate], analysed: Mapping[str, str], tokens: Iterable[str], statistics: TermStatistics
) -> list[Candidate]:
    """The candidates, each with the BM25 of its chunk for the `tokens` that the keyword leg looked for.

    `analysed` has the tokens of every candidate's chunk. Scores that the leg gave stay; a score that is completed comes
    without a rank. Where the keyword leg did not run, nothing is completed.
    """
    asked = tuple(tokens)
    return [_completed(candidate, analysed[candidate.chunk_id], asked, statistics) for candidate in window]


def _completed(candidate: Candidate, analysed: str, tokens: tuple[str, ...], statistics: TermStatistics) -> Candidate:
    found = candidate.legs.get(Mode.KEYWORD)
    if found is None or found.score is not None:
        return candidate
    score = bm25(analysed, tokens, statistics)
    return replace(candidate, legs={**candidate.legs, Mode.KEYWORD: LegRank(score=score, completed=True)})
