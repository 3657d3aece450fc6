"""How a query and a passage are read together: the whole query with every window of the passage."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from services.embedding.domain.windows import window_ranges

Scores = npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Pair:
    """A query and the passage that it is scored with."""

    query: str
    passage: str


@dataclass(frozen=True, slots=True)
class PairPieces:
    """What a cross-encoder reads at once: ids of the pieces, and for each of them which text it is of."""

    ids: tuple[int, ...]
    types: tuple[int, ...]


def pair_windows(
    query_tokens: int, passage_tokens: int, *, room: int, overlap: int, pieces: Callable[[int, int], PairPieces]
) -> tuple[PairPieces, ...]:
    """Each window of the passage with the query; `room` tokens are for both, `pieces` takes a range of the passage.

    At least half of the room is the passage's: a query that leaves less gives no window, nor does a passage without
    tokens.
    """
    left = room - query_tokens
    if left < room / 2:
        return ()
    return tuple(pieces(*some) for some in window_ranges(passage_tokens, room=left, overlap=min(overlap, left // 4)))


def best_of_windows(scores: Scores, windows: Sequence[int]) -> list[float]:
    """The highest score of each pair's windows; `scores` are those of all windows in order, `windows` counts them."""
    ends = np.cumsum(windows)
    return [float(part.max()) for part in np.split(scores, ends[:-1])]
