"""Other ways than MMR's own to say that a hit repeats what was picked, to be compared with it. Pure."""

from collections.abc import Callable, Sequence
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from services.shared.index.chunk import Matrix

Square: TypeAlias = npt.NDArray[np.float64]
# How alike two hits are, for all pairs; and what is said of a hit against all that were picked.
Likeness: TypeAlias = Callable[[Matrix], Square]
LARGEST, MEAN = "largest", "mean"


def cosine(vectors: Matrix) -> Square:
    """The cosine, as MMR has it."""
    wide = vectors.astype(np.float64)
    return np.asarray(wide @ wide.T)


def beyond_the_window(vectors: Matrix) -> Square:
    """How far the cosine is above the window's mean one, as a share of what it could be; at least 0.

    Abstracts on one subject resemble each other: what all hits share says nothing of repetition.
    """
    alike = cosine(vectors)
    if len(alike) < 2:
        return alike
    usual = alike[~np.eye(len(alike), dtype=bool)].mean()
    return np.asarray(np.maximum(0.0, (alike - usual) / (1.0 - usual)))


def squared(vectors: Matrix) -> Square:
    """The cosine squared, with its sign: little for what is somewhat alike, much for near-duplicates."""
    alike = cosine(vectors)
    return np.asarray(np.sign(alike) * alike**2)


def picks(relevance: Sequence[float], alike: Square, *, trade_off: float, against: str, limit: int) -> list[int]:
    """At most `limit` indices in the order in which they are picked, as `mmr` does with redundancy told otherwise.

    Redundancy is the LARGEST or the MEAN likeness to those picked before. Ties go to the lower index.
    """
    wanted = trade_off * np.asarray(relevance, dtype=np.float64)
    largest, total = np.full(len(wanted), -np.inf), np.zeros(len(wanted))
    chosen: list[int] = []
    for _ in range(min(limit, len(wanted))):
        redundancy = np.zeros(len(wanted))
        if chosen:
            redundancy = largest if against == LARGEST else total / len(chosen)
        index = int((wanted - (1.0 - trade_off) * redundancy).argmax())
        chosen.append(index)
        wanted[index] = -np.inf
        largest, total = np.maximum(largest, alike[index]), total + alike[index]
    return chosen
