"""The ingest service as its callers see it; writes are never tried again."""

from collections.abc import AsyncGenerator, AsyncIterator

from google.protobuf.descriptor import ServiceDescriptor

from plumbline.ingest.v1 import ingest_pb2 as pb
from plumbline.ingest.v1.ingest_pb2_grpc import IngestServiceStub
from services.shared.clients.calls import Peer
from services.shared.runtime.channel import open_channel
from services.shared.runtime.rpc_metrics import RpcMetrics
from services.shared.runtime.telemetry import Telemetry

SERVICE: ServiceDescriptor = pb.DESCRIPTOR.services_by_name["IngestService"]


class IngestClient:
    """Calls `IngestService`."""

    def __init__(self, target: str, telemetry: Telemetry, metrics: RpcMetrics) -> None:
        self.peer = Peer("ingest", open_channel(target), SERVICE, telemetry, metrics)
        self._stub = IngestServiceStub(self.peer.channel)

    async def create_collection(
        self, request: pb.CreateCollectionRequest, *, timeout_s: float
    ) -> pb.CreateCollectionResponse:
        """Create a collection."""
        return await self.peer.call(
            self._stub.CreateCollection, request, rpc="CreateCollection", timeout_s=timeout_s, read=False
        )

    async def update_collection(
        self, request: pb.UpdateCollectionRequest, *, timeout_s: float
    ) -> pb.UpdateCollectionResponse:
        """Replace a collection's settings."""
        return await self.peer.call(
            self._stub.UpdateCollection, request, rpc="UpdateCollection", timeout_s=timeout_s, read=False
        )

    async def delete_collection(
        self, request: pb.DeleteCollectionRequest, *, timeout_s: float
    ) -> pb.DeleteCollectionResponse:
        """Delete a collection."""
        return await self.peer.call(
            self._stub.DeleteCollection, request, rpc="DeleteCollection", timeout_s=timeout_s, read=False
        )

    async def put_documents(self, request: pb.PutDocumentsRequest, *, timeout_s: float) -> pb.PutDocumentsResponse:
        """Accept documents."""
        return await self.peer.call(
            self._stub.PutDocuments, request, rpc="PutDocuments", timeout_s=timeout_s, read=False
        )

    async def upload_files(
        self, requests: AsyncIterator[pb.UploadFilesRequest], *, timeout_s: float
    ) -> pb.UploadFilesResponse:
        """Accept files as a stream."""
        return await self.peer.upload(self._stub.UploadFiles, requests, rpc="UploadFiles", timeout_s=timeout_s)

    async def delete_documents(
        self, request: pb.DeleteDocumentsRequest, *, timeout_s: float
    ) -> pb.DeleteDocumentsResponse:
        """Accept deletions."""
        return await self.peer.call(
            self._stub.DeleteDocuments, request, rpc="DeleteDocuments", timeout_s=timeout_s, read=False
        )

    def watch_job(self, request: pb.WatchJobRequest, *, timeout_s: float) -> AsyncGenerator[pb.WatchJobResponse, None]:
        """A job's progress until it ends."""
        return self.peer.stream(self._stub.WatchJob, request, rpc="WatchJob", timeout_s=timeout_s)

    async def cancel_job(self, request: pb.CancelJobRequest, *, timeout_s: float) -> pb.CancelJobResponse:
        """Cancel what has not begun."""
        return await self.peer.call(self._stub.CancelJob, request, rpc="CancelJob", timeout_s=timeout_s, read=False)

    async def build_generation(
        self, request: pb.BuildGenerationRequest, *, timeout_s: float
    ) -> pb.BuildGenerationResponse:
        """Begin to build a generation."""
        return await self.peer.call(
            self._stub.BuildGeneration, request, rpc="BuildGeneration", timeout_s=timeout_s, read=False
        )

    async def promote_generation(
        self, request: pb.PromoteGenerationRequest, *, timeout_s: float
    ) -> pb.PromoteGenerationResponse:
        """Let a ready generation serve."""
        return await self.peer.call(
            self._stub.PromoteGeneration, request, rpc="PromoteGeneration", timeout_s=timeout_s, read=False
        )

    async def roll_back_generation(
        self, request: pb.RollBackGenerationRequest, *, timeout_s: float
    ) -> pb.RollBackGenerationResponse:
        """Let the previous generation serve again."""
        return await self.peer.call(
            self._stub.RollBackGeneration, request, rpc="RollBackGeneration", timeout_s=timeout_s, read=False
        )

    async def close(self) -> None:
        """Close the channel."""
        await self.peer.close()
