"""Near-duplicates: of hits that say the same, the best stays and names the others."""

from collections.abc import Sequence

from services.ranking.domain.window import Matrix


def collapse(texts: Sequence[str], vectors: Matrix, *, least_cosine: float) -> list[tuple[int, tuple[int, ...]]]:
    """The hits that stay, as indices in the given order, each with the later ones that it stands for.

    A hit stands for a later one of the same non-empty text (or its hash) and for one whose cosine is at least
    `least_cosine`, in (0, 1]; a hit that is stood for stands for none. `vectors` is (n, d), unit length, a zero row is
    similar to nothing. O(n^2 * d).
    """
    cosines = vectors @ vectors.T
    waiting = list(range(len(texts)))
    stay: list[tuple[int, tuple[int, ...]]] = []
    while waiting:
        first, *others = waiting
        same = [
            index for index in others if (texts[index] == texts[first] != "") or cosines[first, index] >= least_cosine
        ]
        stay.append((first, tuple(same)))
        waiting = [index for index in others if index not in same]
    return stay
