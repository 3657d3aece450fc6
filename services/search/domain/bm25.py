"""The engines' keyword score, for a chunk that the keyword leg did not find (Robertson and Zaragoza 2009, eq. 3.15)."""

import math
from collections import Counter
from collections.abc import Iterable

from services.search.domain.term_statistics import TermStatistics

K1, B = 1.2, 0.75  # as both engines have them


def bm25(analysed: str, tokens: Iterable[str], statistics: TermStatistics) -> float:
    """The score of a chunk whose tokens are `analysed`, parted by single spaces, for the different `tokens` of a query.

    `sum of idf(t) * tf * (k1 + 1) / (tf + k1 * (1 - b + b * length / mean length))`; 0 when it holds none of them.
    """
    counts = Counter(analysed.split())
    norm = K1 * (1 - B + B * counts.total() / statistics.mean_length)
    return math.fsum(
        statistics.idf(token) * counts[token] * (K1 + 1) / (counts[token] + norm) for token in tokens if counts[token]
    )


def highest_bm25(tokens: Iterable[str], statistics: TermStatistics) -> float:
    """What no chunk's score reaches, however often and in however few words it holds all of `tokens`."""
    return math.fsum(statistics.idf(token) * (K1 + 1) for token in tokens)
