"""How rare the tokens of a query are in a generation."""

import math
from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class TermStatistics:
    """A generation's `chunks` and `tokens` (repetitions included), and how many chunks hold each token of a query.

    A token that is in no chunk is not in `frequencies`.
    """

    chunks: int
    tokens: int
    frequencies: Mapping[str, int]

    def idf(self, token: str) -> float:
        """`ln(1 + (N - df + 0.5) / (df + 0.5))`, above 0: that of both engines, largest for a token in no chunk."""
        holding = min(self.frequencies.get(token, 0), self.chunks)
        return math.log1p((self.chunks - holding + 0.5) / (holding + 0.5))

    @property
    def mean_length(self) -> float:
        """Tokens of a chunk on average; 1 where there is none, so that a length can be divided by it."""
        return self.tokens / self.chunks if self.tokens else 1.0
