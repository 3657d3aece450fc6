"""The embedding service as a measure of nearness."""

from collections.abc import Sequence

from services.answer import convert
from services.shared.clients.embedding import EmbeddingClient


class GrpcSimilarity:
    """Cosines over gRPC, in the lane of queries: a person waits for them."""

    def __init__(self, client: EmbeddingClient, *, timeout_s: float) -> None:
        self._client = client
        self._timeout_s = timeout_s

    async def cosines(self, question: str, texts: Sequence[str], *, model: str) -> list[float]:
        """See `Similarity`."""
        request = convert.embedding_to_proto([question, *texts], model=model)
        response = await self._client.embed(request, timeout_s=self._timeout_s)
        return convert.cosines_from_proto(response)
