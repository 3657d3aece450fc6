"""How much of what a query says a chunk holds: its words weighed by how rare they are."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from services.search.domain.query_words import QueryWord
from services.search.domain.term_statistics import TermStatistics


@dataclass(frozen=True, slots=True)
class IdfMass:
    """The words of a query with the idf of each, which is above 0."""

    words: tuple[QueryWord, ...]
    idfs: tuple[float, ...]

    @classmethod
    def of(cls, words: Sequence[QueryWord], statistics: TermStatistics) -> "IdfMass":
        """The mass of these words in a generation; that of a word in no chunk is the largest."""
        return cls(tuple(words), tuple(statistics.idf(word.token) for word in words))

    def share_in(self, analysed: str) -> float:
        """The share that the words which `analysed` holds have in the whole mass, [0, 1]; 1 for a query without words.

        `analysed` is a chunk's tokens, parted by single spaces.
        """
        if not self.words:
            return 1.0
        present = set(analysed.split())
        held = (
            idf for word, idf in zip(self.words, self.idfs, strict=True) if any(form <= present for form in word.forms)
        )
        # Exact sums, so that a chunk that holds all words has all of the mass.
        return math.fsum(held) / math.fsum(self.idfs)
