"""The ranking service as its callers see it."""

from google.protobuf.descriptor import ServiceDescriptor

from plumbline.ranking.v1 import ranking_pb2 as pb
from plumbline.ranking.v1.ranking_pb2_grpc import RankingServiceStub
from services.shared.clients.calls import Peer
from services.shared.runtime.channel import open_channel
from services.shared.runtime.rpc_metrics import RpcMetrics
from services.shared.runtime.telemetry import Telemetry

SERVICE: ServiceDescriptor = pb.DESCRIPTOR.services_by_name["RankingService"]


class RankingClient:
    """Calls `RankingService`."""

    def __init__(self, target: str, telemetry: Telemetry, metrics: RpcMetrics) -> None:
        self.peer = Peer("ranking", open_channel(target), SERVICE, telemetry, metrics)
        self._stub = RankingServiceStub(self.peer.channel)

    async def rank(self, request: pb.RankRequest, *, timeout_s: float) -> pb.RankResponse:
        """The ordered window."""
        return await self.peer.call(self._stub.Rank, request, rpc="Rank", timeout_s=timeout_s, read=True)

    async def close(self) -> None:
        """Close the channel."""
        await self.peer.close()
