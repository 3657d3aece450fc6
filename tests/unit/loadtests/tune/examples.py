"""Captured queries that are small enough to rank by hand."""

from datetime import date

import numpy as np

from loadtests.tune.captured import CapturedChunk, CapturedQuery
from loadtests.tune.replay import Knobs
from services.search.domain.query import Mode
from services.search.domain.window import Found
from services.shared.catalog.collection_settings import RankingSettings, RetrievalSettings

TODAY = date(2026, 11, 30)


def knobs(**settings: object) -> Knobs:
    """Both legs, fused, without recency, diversity and floor, unless `settings` say otherwise."""
    plain = RankingSettings(relevance="fused", recency_tiers=())
    return Knobs(RetrievalSettings(), plain, TODAY).changed(**settings)


def captured(
    relevant: str,
    *,
    by_words: str = "abcd",
    by_meaning: str = "abcd",
    keyword_scores: dict[str, float] | None = None,
    cosines: dict[str, float] | None = None,
    attributes: dict[str, str] | None = None,
    dates: dict[str, str] | None = None,
    mass: dict[str, float] | None = None,
    name: str = "q",
) -> CapturedQuery:
    """Documents of one chunk, each a letter; their vectors are at right angles."""
    letters = list(dict.fromkeys(by_words + by_meaning))
    given = {letter: 9.0 - place for place, letter in enumerate(by_words)} | (keyword_scores or {})
    near = {letter: 0.9 - place / 10 for place, letter in enumerate(by_meaning)} | (cosines or {})
    return CapturedQuery(
        id=name,
        relevance=dict.fromkeys(relevant, 1),
        legs={
            Mode.KEYWORD: tuple(Found(letter, letter, given[letter]) for letter in by_words),
            Mode.VECTOR: tuple(Found(letter, letter, near[letter]) for letter in by_meaning),
        },
        chunks={
            letter: CapturedChunk(
                document_id=letter,
                date=(dates or {}).get(letter, ""),
                attribute=(attributes or {}).get(letter),
                keyword_score=given.get(letter, 0.0),
                cosine=near.get(letter, 0.0),
                mass=(mass or {}).get(letter, 1.0),
                row=row,
            )
            for row, letter in enumerate(letters)
        },
        exact=frozenset(),
        vectors=np.eye(len(letters), dtype=np.float32),
        tokens=(),
        query_vector=None,
        completion_s=0.0,
    )
