"""The gRPC edge of embedding: decode, embed, encode."""

import asyncio
from typing import Any

import grpc
from google.protobuf.descriptor import ServiceDescriptor

from plumbline.embedding.v1 import embedding_pb2 as pb
from plumbline.embedding.v1.embedding_pb2_grpc import EmbeddingServiceServicer, add_EmbeddingServiceServicer_to_server
from services.embedding import convert
from services.embedding.loaded_models import LoadedModels
from services.shared.runtime.errors import NotFound

SERVICE: ServiceDescriptor = pb.DESCRIPTOR.services_by_name["EmbeddingService"]
Context = grpc.aio.ServicerContext[Any, Any]


class EmbeddingServicer(EmbeddingServiceServicer):
    """Serves the loaded models."""

    def __init__(self, models: LoadedModels) -> None:
        self._models = models

    async def Embed(self, request: pb.EmbedRequest, context: Context) -> pb.EmbedResponse:
        """See `EmbeddingService.Embed`."""
        model = self._models.named(request.model)
        call = convert.embed_call_from_proto(request, dimensions=model.facts.dimensions)
        embedding = await model.embed(call.texts, call.purpose, truncate=call.truncate)
        return convert.embedding_to_proto(embedding, model.facts, dtype=call.dtype)

    async def Score(self, request: pb.ScoreRequest, context: Context) -> pb.ScoreResponse:
        """See `EmbeddingService.Score`."""
        raise NotFound("this embedding service serves no cross-encoder", field="model")

    async def DescribeModel(self, request: pb.DescribeModelRequest, context: Context) -> pb.DescribeModelResponse:
        """See `EmbeddingService.DescribeModel`."""
        model = self._models.named(request.model)
        tokenizer = await asyncio.to_thread(model.tokenizer_json) if request.with_tokenizer else b""
        return convert.facts_to_proto(model.facts, loaded=self._models.names(), tokenizer_json=tokenizer)

    def add_to(self, server: grpc.aio.Server) -> None:
        """Register with a server."""
        add_EmbeddingServiceServicer_to_server(self, server)
