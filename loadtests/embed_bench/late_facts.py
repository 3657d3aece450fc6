"""A fact that stands only after word piece 450 of a chunk of 600: found by windows, lost by a cut, blurred by a mean.

Each fact of the sample dictionary stands in a chunk of its own, behind text that has nothing to do with it; each is
asked for among all chunks.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from loadtests.embed_bench.service import Client, Counter
from loadtests.embed_bench.texts import facts, filler_words

Matrix = npt.NDArray[np.float32]
BEFORE, WHOLE = 450, 600
_NEAR = 10
_SHIFT = 37


@dataclass(frozen=True, slots=True)
class Found:
    """How one way ranks the right chunk: share among the first ten, mean reciprocal rank, mean rank, the ranks."""

    way: str
    within_10: float
    reciprocal_rank: float
    mean_rank: float
    ranks: tuple[int, ...]


async def late_facts(client: Client, count: int = 60) -> list[Found]:
    """Each way's figures over `count` facts."""
    asked = facts()[:count]
    counter = await client.token_counter()
    words = filler_words()
    # Each chunk's filler begins somewhere else.
    chunks = [
        _chunk(fact, (words * 4)[_SHIFT * number % len(words) :], counter) for number, (_, fact) in enumerate(asked)
    ]
    questions = await client.embed([question for question, _ in asked], query=True)
    windows = [await client.windows(chunk) for chunk in chunks]
    ways = {
        "windows": windows,
        "cut": [await client.embed([chunk], query=False, truncate=True) for chunk in chunks],
        "mean": [_unit(rows.mean(axis=0, keepdims=True)) for rows in windows],
    }
    return [_found(way, questions, rows) for way, rows in ways.items()]


def _chunk(fact: str, words: Sequence[str], counter: Counter) -> str:
    """`fact` after at least 450 word pieces of filler, and filler after it up to 600."""
    head = _as_many(words, BEFORE, counter)
    before = [*words[:head], words[head]]
    text = " ".join(before) + " " + fact
    rest = words[head + 1 :]
    left = WHOLE - counter(text)
    return text + " " + " ".join(rest[: _as_many(rest, left, counter)])


def _as_many(words: Sequence[str], tokens: int, counter: Counter) -> int:
    """How many words from the front have at most so many tokens."""
    low, high = 0, min(len(words), tokens)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if counter(" ".join(words[:middle])) <= tokens else (low, middle - 1)
    return low


def _found(way: str, questions: Matrix, chunks: Sequence[Matrix]) -> Found:
    scores = np.stack([(questions @ rows.T).max(axis=1) for rows in chunks], axis=1)
    right = np.diagonal(scores)[:, None]
    ranks = 1 + (scores > right).sum(axis=1)
    return Found(
        way=way,
        within_10=float((ranks <= _NEAR).mean()),
        reciprocal_rank=float((1 / ranks).mean()),
        mean_rank=float(ranks.mean()),
        ranks=tuple(ranks.tolist()),
    )


def _unit(rows: Matrix) -> Matrix:
    return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True), dtype=np.float32)
