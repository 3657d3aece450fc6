"""Reciprocal rank fusion (Cormack, Clarke and Büttcher 2009): what the legs agree on, told by ranks alone."""

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from operator import attrgetter


@dataclass(frozen=True, slots=True)
class Ballot:
    """What one leg votes for: `keys`, best first, and what its votes weigh, above 0."""

    keys: Sequence[str]
    weight: float = 1.0


@dataclass(frozen=True, slots=True)
class Fused:
    """A key with its score; `ranks` and `shares` have one entry per ballot, 0 where the ballot lacks the key."""

    key: str
    score: float
    ranks: tuple[int, ...]
    shares: tuple[float, ...]


def reciprocal_rank_fusion(ballots: Sequence[Ballot], *, k: int) -> list[Fused]:
    """Every key once, best first, by the sum over the ballots of `weight / (k + rank)`.

    Ranks count from 1 over the different keys of a ballot: a key has one vote in each, that of its first place, and a
    ballot without it adds nothing. Ties go to the key of the earlier ballot, then to the better rank in it, which no
    two keys share. O(n log n).
    """
    ranks = [{key: rank for rank, key in enumerate(dict.fromkeys(ballot.keys), start=1)} for ballot in ballots]
    # What a vote for each rank adds, 0 for none.
    adds = [[0.0, *(ballot.weight / (k + rank) for rank in range(1, len(ballot.keys) + 1))] for ballot in ballots]
    fused = []
    # In the order of ties, which sorting keeps.
    for key in dict.fromkeys(itertools.chain.from_iterable(ranks)):
        places = tuple([ballot.get(key, 0) for ballot in ranks])
        shares = tuple([add[place] for add, place in zip(adds, places)])  # noqa: B905  # `strict` takes as long as it
        # An exact sum, so that equal votes tie however many ballots they come from.
        fused.append(Fused(key, math.fsum(shares), places, shares))
    return sorted(fused, key=attrgetter("score"), reverse=True)


def highest_score(weights: Sequence[float], *, k: int) -> float:
    """The score of a key that is first in every ballot."""
    return math.fsum(weight / (k + 1) for weight in weights)


def score_below(weights: Sequence[float], *, k: int, depth: int) -> float:
    """The score of a key that only the lightest ballot holds, one rank below `depth`."""
    return min(weights) / (k + depth + 1)
