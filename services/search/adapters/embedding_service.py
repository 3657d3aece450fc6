"""The embedding service as search needs it."""

import numpy as np

from services.search import convert
from services.search.ports import EmbeddedQuery
from services.shared.clients.embedding import EmbeddingClient
from services.shared.index.chunk import Matrix
from services.shared.runtime.errors import DependencyUnavailable, Internal, InvalidInput, NotFound

# Half precision moves the length of a row by about so much.
_LENGTH_TOLERANCE = 0.01


class EmbeddingService:
    """Implements `Embedder` over gRPC."""

    def __init__(self, client: EmbeddingClient) -> None:
        self._client = client

    async def embed_query(self, text: str, *, model: str, dimensions: int, timeout_s: float) -> EmbeddedQuery | None:
        """See `Embedder.embed_query`."""
        request = convert.embed_request_to_proto(text, model=model, dimensions=dimensions)
        try:
            response = await self._client.embed(request, timeout_s=timeout_s)
            embedded = convert.embedded_query_from_proto(response)
        except NotFound as error:
            raise DependencyUnavailable(error.message) from None
        except InvalidInput as error:
            if error.field == "texts[0]":  # no token in it
                return None
            if error.field == "dimensions":  # another model than the index was built with
                raise DependencyUnavailable(error.message) from None
            raise Internal(f"embedding refused {error.field}: {error.message}") from None
        if not _are_unit_rows(embedded.vectors):
            raise Internal("embedding gave no vector of unit length")
        return embedded


def _are_unit_rows(vectors: Matrix) -> bool:
    lengths = np.linalg.norm(vectors, axis=1)
    return bool(len(lengths)) and bool((abs(lengths - 1) < _LENGTH_TOLERANCE).all())
