"""`python -m loadtests.search_bench.ready_embedding`: an embedding service that looks up the vectors of known queries.

So what is measured is search without embedding. `QUERIES` is a file of texts, (q,), and their vectors, (q, d).
"""

from pathlib import Path
from typing import Any

import grpc
import numpy as np
from pydantic import Field

from plumbline.embedding.v1 import embedding_pb2 as pb
from plumbline.embedding.v1 import vectors_pb2
from plumbline.embedding.v1.embedding_pb2_grpc import EmbeddingServiceServicer, add_EmbeddingServiceServicer_to_server
from services.shared.clients.embedding import SERVICE
from services.shared.clients.vectors import pack_vectors
from services.shared.index.chunk import Matrix
from services.shared.runtime.rpc_metrics import RpcMetrics
from services.shared.runtime.server import App, run
from services.shared.runtime.settings import RpcSettings, settings_of
from services.shared.runtime.telemetry import Telemetry

MODEL = "ready-vectors"
WEIGHTS_SHA256 = "0" * 64


class ReadyEmbeddingSettings(RpcSettings):
    """Where the vectors are."""

    model_config = settings_of("embedding")

    queries: Path = Field(description="The file that `write_queries` wrote.")


class ReadyEmbedding(EmbeddingServiceServicer):
    """Answers each known text with its vector."""

    def __init__(self, vectors: dict[str, Matrix]) -> None:
        self._vectors = vectors

    async def Embed(self, request: pb.EmbedRequest, context: grpc.aio.ServicerContext[Any, Any]) -> pb.EmbedResponse:
        rows = np.concatenate([self._vectors[text] for text in request.texts])
        return pb.EmbedResponse(
            vectors=pack_vectors(rows, vectors_pb2.VECTOR_DTYPE_FLOAT32),
            model=pb.ModelIdentity(name=request.model, weights_sha256=WEIGHTS_SHA256, dimensions=rows.shape[1]),
        )


def write_queries(texts: list[str], vectors: Matrix, file: Path) -> None:
    """Keep the vectors, (q, d), of these texts for the service."""
    np.savez(file, texts=np.array(texts), vectors=vectors)


async def build(settings: ReadyEmbeddingSettings, telemetry: Telemetry) -> App:
    """The service over its file."""
    with np.load(settings.queries) as stored:
        vectors = {str(text): row[np.newaxis] for text, row in zip(stored["texts"], stored["vectors"], strict=True)}

    async def become_ready() -> None:
        return None

    return App(
        register=lambda server: add_EmbeddingServiceServicer_to_server(ReadyEmbedding(vectors), server),
        services=[SERVICE],
        metrics=RpcMetrics("embedding", telemetry.registry),
        become_ready=become_ready,
    )


if __name__ == "__main__":
    run("embedding", ReadyEmbeddingSettings, build)
