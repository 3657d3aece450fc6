"""An embedding service for queries whose behaviour a test scripts and changes while it runs."""

from collections.abc import Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager

import grpc
import numpy as np

from plumbline.embedding.v1 import embedding_pb2 as pb
from plumbline.embedding.v1 import vectors_pb2
from plumbline.embedding.v1.embedding_pb2_grpc import EmbeddingServiceServicer, add_EmbeddingServiceServicer_to_server
from services.shared.clients.embedding import SERVICE
from services.shared.clients.vectors import pack_vectors
from services.shared.index.chunk import Matrix
from services.shared.runtime.rpc_metrics import RpcMetrics
from services.shared.runtime.server import App
from services.shared.runtime.settings import RpcSettings
from tests.fakes.serving import Served, recorded_telemetry, served

Behaviour = Callable[[pb.EmbedRequest], Awaitable[pb.EmbedResponse]]


class QueryEmbedding(EmbeddingServiceServicer):
    """Answers each call by `behaviour`, which may be changed between calls; keeps the requests."""

    def __init__(self, behaviour: Behaviour) -> None:
        self.behaviour = behaviour
        self.requests: list[pb.EmbedRequest] = []

    async def Embed(self, request: pb.EmbedRequest, context: grpc.aio.ServicerContext) -> pb.EmbedResponse:
        self.requests.append(request)
        return await self.behaviour(request)


def serving_query_embedding(servicer: QueryEmbedding) -> AbstractAsyncContextManager[Served]:
    """The servicer behind our own server skeleton."""
    telemetry = recorded_telemetry("embedding").telemetry
    app = App(
        register=lambda server: add_EmbeddingServiceServicer_to_server(servicer, server),
        services=[SERVICE],
        metrics=RpcMetrics("embedding", telemetry.registry),
    )
    return served(app, RpcSettings(port=0), telemetry)


def embeds(vectors: Mapping[str, Matrix], *, weights_sha256: str) -> Behaviour:
    """A behaviour: the rows of each known text, one per window, made by these weights."""

    async def embed(request: pb.EmbedRequest) -> pb.EmbedResponse:
        rows = np.concatenate([vectors[text] for text in request.texts])
        return pb.EmbedResponse(
            vectors=pack_vectors(rows, vectors_pb2.VECTOR_DTYPE_FLOAT32),
            model=pb.ModelIdentity(name=request.model, weights_sha256=weights_sha256, dimensions=rows.shape[1]),
        )

    return embed
