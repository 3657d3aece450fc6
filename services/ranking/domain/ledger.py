"""Why a hit stands where it stands: what each step gave it and where each step put it."""

from dataclasses import dataclass

from services.ranking.domain.relevance import Relevance
from services.ranking.domain.window import Candidate


@dataclass(frozen=True, slots=True)
class Place:
    """The place, from 1 over the whole window, that a hit had after a step."""

    step: str
    place: int


@dataclass(frozen=True, slots=True)
class RankedHit:
    """A candidate in its final place.

    `relevance_kind` is by what its relevance was told in the end. `marginal_gain` and `redundancy` are None when MMR
    did not pick it. `duplicates` are the ids of the candidates that it stands for as near-duplicates. `pair_score` is a
    cross-encoder's raw score, None where it gave none.
    """

    candidate: Candidate
    relevance: float
    relevance_kind: Relevance
    age_years: int | None
    multiplier: float
    places: tuple[Place, ...]
    marginal_gain: float | None = None
    redundancy: float | None = None
    floor_reason: str = ""
    duplicates: tuple[str, ...] = ()
    pair_score: float | None = None

    @property
    def score(self) -> float:
        """Relevance times recency factor."""
        return self.relevance * self.multiplier
