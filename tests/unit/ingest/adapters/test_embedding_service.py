from typing import Any, cast

import numpy as np
import pytest

from plumbline.embedding.v1 import embedding_pb2 as pb
from plumbline.embedding.v1 import vectors_pb2
from services.ingest.adapters.embedding_service import EmbeddingService
from services.shared.clients.embedding import EmbeddingClient
from services.shared.clients.vectors import pack_vectors
from services.shared.runtime.errors import Internal


class FakeEmbeddingClient:
    """Gives each text the vector (its length, 0); remembers the texts of each call."""

    def __init__(self) -> None:
        self.calls: list[list[str]] = []

    async def embed(self, request: pb.EmbedRequest, *, timeout_s: float) -> pb.EmbedResponse:
        self.calls.append(list(request.texts))
        rows = np.array([[len(text), 0] for text in request.texts], dtype=np.float32)
        texts = [pb.EmbeddedText(first_row=row, windows=[pb.Window()]) for row in range(len(rows))]
        return pb.EmbedResponse(vectors=pack_vectors(rows, vectors_pb2.VECTOR_DTYPE_FLOAT32), texts=texts)


def service(client: FakeEmbeddingClient) -> EmbeddingService:
    return EmbeddingService(
        cast(EmbeddingClient, cast(Any, client)), batch_texts=64, embed_timeout_s=60, describe_timeout_s=5
    )


async def test_a_call_has_a_bounded_number_of_texts() -> None:
    client = FakeEmbeddingClient()
    vectors = await service(client).embed(["x"] * 130, model="m", dimensions=0)
    assert [len(call) for call in client.calls] == [64, 64, 2]
    assert len(vectors) == 130


async def test_a_call_of_long_texts_is_bounded_by_what_a_slow_cpu_embeds_in_time() -> None:
    client = FakeEmbeddingClient()
    lengths = [15_000, 15_000, 10_000, 1, 50_000, 1]
    vectors = await service(client).embed(["x" * length for length in lengths], model="m", dimensions=0)
    assert [[len(text) for text in call] for call in client.calls] == [[15_000, 15_000, 10_000], [1], [50_000], [1]]
    assert [int(rows[0, 0]) for rows in vectors] == lengths


async def test_a_vector_that_is_no_number_is_a_fault_of_embedding_and_not_of_the_document() -> None:
    class Faulty(FakeEmbeddingClient):
        async def embed(self, request: pb.EmbedRequest, *, timeout_s: float) -> pb.EmbedResponse:
            rows = np.full((1, 2), np.nan, dtype=np.float32)
            return pb.EmbedResponse(vectors=pack_vectors(rows, vectors_pb2.VECTOR_DTYPE_FLOAT32))

    with pytest.raises(Internal, match="NaN"):
        await service(Faulty()).embed(["x"], model="m", dimensions=0)
