"""What ranking is given: the candidates of one window, and the policy by which they are ordered."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from services.ranking.domain.relevance import Relevance

Vector = npt.NDArray[np.float32]
Matrix = npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class LegRank:
    """What one leg knows of a candidate; `rank` counts from 1, 0 when the leg did not find it."""

    rank: int = 0
    score: float | None = None
    completed: bool = False
    fused_share: float = 0.0


@dataclass(frozen=True, slots=True)
class Candidate:
    """One hit of the window.

    `date` may be partial, malformed or empty; `attribute` is None when it is missing; `text_sha256` is empty when the
    text is not known, and `text` where no cross-encoder is to read it.
    """

    id: str
    fused_score: float
    keyword: LegRank = LegRank()
    vector: LegRank = LegRank()
    exact: bool = False
    date: str = ""
    attribute: str | None = None
    text_sha256: str = ""
    text: str = ""

    @property
    def leads_both_legs(self) -> bool:
        """It is the first hit of the keyword leg and of the vector leg."""
        return self.keyword.rank == 1 and self.vector.rank == 1


@dataclass(frozen=True, slots=True)
class Window:
    """Candidates in fused order, exact ones first.

    `vectors` is (n, d) float32, row i for candidate i, unit length or zero where the vector is missing; `query_vector`
    is (d,), unit length, or None where there is none. `fused_top` and `fused_floor` are the scale of the fused score,
    see `relevance.fused_relevance`. `query` is the text that a cross-encoder reads with those of the candidates.
    """

    candidates: tuple[Candidate, ...]
    vectors: Matrix
    fused_top: float
    fused_floor: float
    query_vector: Vector | None = None
    query: str = ""


@dataclass(frozen=True, slots=True)
class RecencyTier:
    """`multiplier` holds up to and including `up_to_years` whole years of age; None holds beyond."""

    up_to_years: int | None
    multiplier: float


@dataclass(frozen=True, slots=True)
class Policy:
    """How a window is ordered: the constants of design section 8.6, checked by `convert`.

    `cosine_share` is the share of the cosine in completed relevance. `near_duplicate_cosine` is the cosine from which
    two hits say the same; 0 keeps all hits. `recency_places` is L; an empty `recency_tiers` switches recency off.
    `mmr_lambda` is the share of relevance (1 leaves the order as it is), which is raised to `mmr_relevance_power` for
    it; `mmr_cosine_share` is w, the share of the cosine in redundancy. A `cross_encoder` has `cross_encoder_budget_s`
    seconds to score the window.
    """

    relevance: Relevance = Relevance.FUSED
    cosine_share: float = 0.6
    near_duplicate_cosine: float = 0.0
    recency_tiers: tuple[RecencyTier, ...] = ()
    recency_places: int = 5
    protect_leader: bool = True
    mmr: bool = False
    mmr_lambda: float = 0.6
    mmr_relevance_power: float = 1.0
    mmr_cosine_share: float = 1.0
    min_distinct: int = 0
    min_distinct_within: int = 20
    cross_encoder: bool = False
    cross_encoder_budget_s: float = 0.3
