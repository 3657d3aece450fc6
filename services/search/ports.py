"""What search needs from others, beside the index (`services/shared/index/port.py`)."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from services.search.domain.term_statistics import TermStatistics
from services.search.domain.window import Candidate
from services.shared.index.chunk import Matrix, Vector


@dataclass(frozen=True, slots=True)
class Generation:
    """The generation that answers, and what made its vectors."""

    id: str
    revision: int
    model: str
    weights_sha256: str
    dimensions: int


class Catalog(Protocol):
    """Knows which generation serves a collection."""

    async def generation(self, collection: str, generation_id: str) -> Generation:
        """The active generation, or the one named when it may be served: it is ready or active.

        Raises NotFound naming `collection` or `generation_id`, and DependencyUnavailable.
        """

    async def term_statistics(self, generation_id: str, tokens: Sequence[str]) -> TermStatistics | None:
        """How rare `tokens` are in the generation; None when it has no statistics. Raises DependencyUnavailable."""

    async def check(self) -> None:
        """Return when the catalog answers. Raises DependencyUnavailable."""

    async def close(self) -> None:
        """Let go of its connections."""


@dataclass(frozen=True, slots=True)
class EmbeddedQuery:
    """The vectors of a query, (windows, d) with unit rows, and the weights that made them."""

    vectors: Matrix
    weights_sha256: str


class Embedder(Protocol):
    """Turns queries into vectors."""

    async def embed_query(self, text: str, *, model: str, dimensions: int, timeout_s: float) -> EmbeddedQuery | None:
        """The query's vectors, or None when the model reads nothing in it.

        Raises DependencyUnavailable, also when the model is not loaded there or does not give so many dimensions,
        Overloaded, DeadlineExceeded, Internal.
        """


@dataclass(frozen=True, slots=True)
class RankingTask:
    """A window to order, in fused order, exact candidates first.

    `dates`, `attributes`, `texts`, `contexts` (what stands over a text) and `vectors`, (n, d) with unit or zero rows,
    are those of the candidates. `query` is empty where documents like another one are wanted. `fused_top` and
    `fused_floor` are the scale of the fused scores: what a hit first in all legs gets, and one below the depth of the
    lightest leg. `settings` came with the query. With `explain`, every hit comes back with its ledger.
    """

    candidates: Sequence[Candidate]
    dates: Sequence[str]
    attributes: Sequence[str | None]
    texts: Sequence[str]
    contexts: Sequence[str]
    vectors: Matrix
    query: str
    query_vector: Vector | None
    fused_top: float
    fused_floor: float
    settings: bytes
    explain: bool


@dataclass(frozen=True, slots=True)
class Ranked:
    """A candidate in its final place.

    `duplicates` are the candidates that it stands for as near-duplicates. `ledger` is ranking's explanation as it came,
    empty where ranking was skipped or no explanation was asked for.
    """

    chunk_id: str
    score: float
    ledger: bytes = b""
    duplicates: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Order:
    """A window in its final order, and what ranking had to do without."""

    ranked: Sequence[Ranked] = ()
    degraded: Sequence[str] = ()


class Ranker(Protocol):
    """Puts windows in order."""

    async def rank(self, task: RankingTask, *, timeout_s: float) -> Order:
        """The candidates, best first.

        Raises InvalidInput naming `ranking.<setting>`, DependencyUnavailable, Overloaded, DeadlineExceeded, Internal.
        """
