"""nDCG at 10 of a ranking of documents, as a promotion is judged by it. Pure."""

from collections.abc import Mapping, Sequence
from math import log2

DEPTH = 10


def ndcg_at_10(ranked: Sequence[str], grades: Mapping[str, int]) -> float:
    """The discounted gain of the first 10 different documents over the best there could be, in [0, 1].

    A grade is its own gain, as in trec_eval; a document without one counts 0. Without any grade above 0 it is 0.
    """
    found = [grades.get(document_id, 0) for document_id in dict.fromkeys(ranked)]
    best = _gain(sorted(grades.values(), reverse=True))
    return _gain(found) / best if best else 0.0


def _gain(grades: Sequence[int]) -> float:
    return sum(max(0, grade) / log2(rank + 1) for rank, grade in enumerate(grades[:DEPTH], start=1))
