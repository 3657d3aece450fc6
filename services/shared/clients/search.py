"""The search service as its callers see it."""

from google.protobuf.descriptor import ServiceDescriptor

from plumbline.search.v1 import search_pb2 as pb
from plumbline.search.v1.search_pb2_grpc import SearchServiceStub
from services.shared.clients.calls import Peer
from services.shared.runtime.channel import open_channel
from services.shared.runtime.rpc_metrics import RpcMetrics
from services.shared.runtime.telemetry import Telemetry

SERVICE: ServiceDescriptor = pb.DESCRIPTOR.services_by_name["SearchService"]


class SearchClient:
    """Calls `SearchService`; all its calls are reads."""

    def __init__(self, target: str, telemetry: Telemetry, metrics: RpcMetrics) -> None:
        self.peer = Peer("search", open_channel(target), SERVICE, telemetry, metrics)
        self._stub = SearchServiceStub(self.peer.channel)

    async def search(self, request: pb.SearchRequest, *, timeout_s: float) -> pb.SearchResponse:
        """A page of ranked hits."""
        return await self.peer.call(self._stub.Search, request, rpc="Search", timeout_s=timeout_s, read=True)

    async def list_chunks(self, request: pb.ListChunksRequest, *, timeout_s: float) -> pb.ListChunksResponse:
        """The chunks of one document."""
        return await self.peer.call(self._stub.ListChunks, request, rpc="ListChunks", timeout_s=timeout_s, read=True)

    async def close(self) -> None:
        """Close the channel."""
        await self.peer.close()
