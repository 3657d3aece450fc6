"""The keyword score of a chunk, as both engines compute it (Robertson and Zaragoza 2009, eq. 3.15)."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from services.search.domain.term_statistics import TermStatistics

K1, B = 1.2, 0.75  # as both engines have them


@dataclass(frozen=True, slots=True)
class Bm25:
    """Scores chunks for one query. `weights` has for each different token idf * (k1 + 1), above 0."""

    weights: Mapping[str, float]
    mean_length: float

    @classmethod
    def of(cls, tokens: Iterable[str], statistics: TermStatistics) -> "Bm25":
        """The scores for a query's `tokens`, two of which are one, in a generation."""
        return cls({token: statistics.idf(token) * (K1 + 1) for token in tokens}, statistics.mean_length)

    def score(self, analysed: str) -> float:
        """The score of a chunk whose tokens are `analysed`, parted by single spaces; 0 when it holds none of them.

        `sum of idf(t) * tf * (k1 + 1) / (tf + k1 * (1 - b + b * length / mean length))`.
        """
        tokens = analysed.split()
        norm = K1 * (1 - B + B * len(tokens) / self.mean_length)
        # Most tokens of a query are not there; this takes half the time of counting all that are.
        counts = {token: tokens.count(token) for token in self.weights.keys() & set(tokens)}
        # An exact sum, so that equal chunks tie in whatever order their tokens come.
        return math.fsum(self.weights[token] * count / (count + norm) for token, count in counts.items())

    @property
    def highest(self) -> float:
        """What no chunk's score reaches, however often and in however few words it holds all tokens."""
        return math.fsum(self.weights.values())
