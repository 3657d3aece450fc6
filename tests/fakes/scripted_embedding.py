"""An embedding service without a model, behind a real server: texts that share words are near each other."""

from contextlib import AbstractAsyncContextManager

import grpc
import numpy as np

from plumbline.embedding.v1 import embedding_pb2 as pb
from plumbline.embedding.v1 import vectors_pb2
from plumbline.embedding.v1.embedding_pb2_grpc import EmbeddingServiceServicer, add_EmbeddingServiceServicer_to_server
from services.shared.clients.embedding import SERVICE
from services.shared.clients.vectors import pack_vectors
from services.shared.runtime.errors import PlumblineError
from services.shared.runtime.rpc_metrics import RpcMetrics
from services.shared.runtime.server import App
from services.shared.runtime.settings import RpcSettings
from tests.fakes.serving import Served, recorded_telemetry, served


class ScriptedEmbedding(EmbeddingServiceServicer):
    """A dimension for each word that it has seen; raises `error` when one is given. Keeps the requests."""

    def __init__(self, error: PlumblineError | None = None) -> None:
        self._error = error
        self.requests: list[pb.EmbedRequest] = []

    async def Embed(self, request: pb.EmbedRequest, context: grpc.aio.ServicerContext) -> pb.EmbedResponse:
        self.requests.append(request)
        if self._error:
            raise self._error
        words = sorted({word for text in request.texts for word in text.lower().split()})
        rows = np.array([[float(word in text.lower().split()) for word in words] for text in request.texts])
        unit = (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)
        return pb.EmbedResponse(vectors=pack_vectors(unit, vectors_pb2.VECTOR_DTYPE_FLOAT32))


def serving_embedding(servicer: ScriptedEmbedding) -> AbstractAsyncContextManager[Served]:
    """The servicer behind our own server skeleton."""
    telemetry = recorded_telemetry("embedding")
    app = App(
        register=lambda server: add_EmbeddingServiceServicer_to_server(servicer, server),
        services=[SERVICE],
        metrics=RpcMetrics("embedding", telemetry.telemetry.registry),
    )
    return served(app, RpcSettings(port=0), telemetry.telemetry)
