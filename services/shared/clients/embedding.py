"""The embedding service as its callers see it."""

import time

from google.protobuf.descriptor import ServiceDescriptor

from plumbline.embedding.v1 import embedding_pb2 as pb
from plumbline.embedding.v1.embedding_pb2_grpc import EmbeddingServiceStub
from services.shared.clients.calls import Peer
from services.shared.clients.embed_parts import joined, parts_of
from services.shared.runtime.channel import open_channel
from services.shared.runtime.rpc_metrics import RpcMetrics
from services.shared.runtime.telemetry import Telemetry

SERVICE: ServiceDescriptor = pb.DESCRIPTOR.services_by_name["EmbeddingService"]


class EmbeddingClient:
    """Calls `EmbeddingService`; all its calls are reads."""

    def __init__(self, target: str, telemetry: Telemetry, metrics: RpcMetrics) -> None:
        self.peer = Peer("embedding", open_channel(target), SERVICE, telemetry, metrics)
        self._stub = EmbeddingServiceStub(self.peer.channel)

    async def embed(self, request: pb.EmbedRequest, *, timeout_s: float) -> pb.EmbedResponse:
        """Vectors for texts, one row per window; more texts than fit in a call go in several, one after the other.

        `timeout_s` is for all of them. Where a model is replaced meanwhile, the next part fails with NotFound.
        """
        deadline = time.monotonic() + timeout_s
        replies = []
        for part in parts_of(request):
            left_s = deadline - time.monotonic()
            replies.append(await self.peer.call(self._stub.Embed, part, rpc="Embed", timeout_s=left_s, read=True))
        return joined(replies)

    async def score(self, request: pb.ScoreRequest, *, timeout_s: float) -> pb.ScoreResponse:
        """Cross-encoder scores of pairs."""
        return await self.peer.call(self._stub.Score, request, rpc="Score", timeout_s=timeout_s, read=True)

    async def describe_model(self, request: pb.DescribeModelRequest, *, timeout_s: float) -> pb.DescribeModelResponse:
        """Limits, hashes and tokenizer of a model."""
        return await self.peer.call(
            self._stub.DescribeModel, request, rpc="DescribeModel", timeout_s=timeout_s, read=True
        )

    async def close(self) -> None:
        """Close the channel."""
        await self.peer.close()
