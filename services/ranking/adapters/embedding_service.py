"""The cross-encoder of the embedding service as ranking needs it."""

import math
from collections.abc import Sequence

from services.ranking import convert
from services.shared.clients.embedding import EmbeddingClient
from services.shared.runtime.errors import DependencyUnavailable, Internal, NotFound


class EmbeddingPairScorer:
    """Implements `PairScorer` over gRPC; without a `client` there is no cross-encoder."""

    def __init__(self, client: EmbeddingClient | None) -> None:
        self._client = client

    async def score(self, query: str, passages: Sequence[str], *, timeout_s: float) -> list[float]:
        """See `PairScorer.score`."""
        if self._client is None:
            raise DependencyUnavailable("ranking was not told where the embedding service is")
        try:
            response = await self._client.score(convert.pairs_to_proto(query, passages), timeout_s=timeout_s)
        except NotFound as error:
            raise DependencyUnavailable(error.message) from None
        if len(response.scores) != len(passages) or not all(math.isfinite(score) for score in response.scores):
            raise Internal("embedding gave scores that are no numbers, or not one for each passage")
        return list(response.scores)

    async def close(self) -> None:
        """See `PairScorer.close`."""
        if self._client:
            await self._client.close()
