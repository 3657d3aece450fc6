"""The gRPC edge of embedding: decode, embed, encode."""

import asyncio
from collections.abc import Callable
from typing import Any

import grpc
from google.protobuf.descriptor import ServiceDescriptor

from plumbline.embedding.v1 import embedding_pb2 as pb
from plumbline.embedding.v1.embedding_pb2_grpc import EmbeddingServiceServicer, add_EmbeddingServiceServicer_to_server
from services.embedding import convert
from services.embedding.loaded_models import LoadedModels, ModelSource
from services.embedding.ports import Encoder

SERVICE: ServiceDescriptor = pb.DESCRIPTOR.services_by_name["EmbeddingService"]
Context = grpc.aio.ServicerContext[Any, Any]


class EmbeddingServicer(EmbeddingServiceServicer):
    """Serves the loaded models; `source` tells where one of a name, with a wanted hash, comes from."""

    def __init__(self, models: LoadedModels, source: Callable[[str, str | None], ModelSource[Encoder]]) -> None:
        self._models = models
        self._source = source

    async def Embed(self, request: pb.EmbedRequest, context: Context) -> pb.EmbedResponse:
        """See `EmbeddingService.Embed`."""
        model = self._models.named(request.model)
        call = convert.embed_call_from_proto(request, model.facts)
        embedding = await model.embed(call.texts, call.purpose, truncate=call.truncate, dimensions=call.dimensions)
        return convert.embedding_to_proto(embedding, model.facts, dtype=call.dtype)

    async def Score(self, request: pb.ScoreRequest, context: Context) -> pb.ScoreResponse:
        """See `EmbeddingService.Score`."""
        scorer = self._models.scorer(request.model)
        scored = await scorer.score(convert.pairs_from_proto(request))
        return convert.scored_to_proto(scored, scorer.facts)

    async def DescribeModel(self, request: pb.DescribeModelRequest, context: Context) -> pb.DescribeModelResponse:
        """See `EmbeddingService.DescribeModel`."""
        model = self._models.named(request.model)
        tokenizer = await asyncio.to_thread(model.tokenizer_json) if request.with_tokenizer else b""
        return convert.facts_to_proto(model.facts, loaded=self._models.names(), tokenizer_json=tokenizer)

    async def LoadModel(self, request: pb.LoadModelRequest, context: Context) -> pb.LoadModelResponse:
        """See `EmbeddingService.LoadModel`."""
        name, weights_sha256 = convert.new_model_from_proto(request)
        model = await self._models.add(name, self._source(name, weights_sha256))
        identity = convert.identity_to_proto(model.facts, dimensions=model.facts.dimensions)
        return pb.LoadModelResponse(model=identity, loaded=self._models.names())

    async def DropModel(self, request: pb.DropModelRequest, context: Context) -> pb.DropModelResponse:
        """See `EmbeddingService.DropModel`."""
        await self._models.drop(request.model)
        return pb.DropModelResponse(loaded=self._models.names())

    def add_to(self, server: grpc.aio.Server) -> None:
        """Register with a server."""
        add_EmbeddingServiceServicer_to_server(self, server)
