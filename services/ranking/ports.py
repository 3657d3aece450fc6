"""What ranking needs from others."""

from collections.abc import Sequence
from typing import Protocol


class PairScorer(Protocol):
    """Reads a query with passages."""

    async def score(self, query: str, passages: Sequence[str], *, timeout_s: float) -> list[float]:
        """How well each passage answers the query: raw scores of a cross-encoder, finite, in the order of `passages`.

        Raises DependencyUnavailable, also when no cross-encoder is loaded there, InvalidInput for a text that it cannot
        read, Overloaded, DeadlineExceeded, Internal.
        """

    async def close(self) -> None:
        """Let go of its connections."""
