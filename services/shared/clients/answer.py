"""The answer service as its callers see it."""

from collections.abc import AsyncGenerator

from google.protobuf.descriptor import ServiceDescriptor

from plumbline.answer.v1 import answer_pb2 as pb
from plumbline.answer.v1.answer_pb2_grpc import AnswerServiceStub
from services.shared.clients.calls import Peer
from services.shared.runtime.channel import open_channel
from services.shared.runtime.rpc_metrics import RpcMetrics
from services.shared.runtime.telemetry import Telemetry

SERVICE: ServiceDescriptor = pb.DESCRIPTOR.services_by_name["AnswerService"]


class AnswerClient:
    """Calls `AnswerService`."""

    def __init__(self, target: str, telemetry: Telemetry, metrics: RpcMetrics) -> None:
        self.peer = Peer("answer", open_channel(target), SERVICE, telemetry, metrics)
        self._stub = AnswerServiceStub(self.peer.channel)

    def answer(self, request: pb.AnswerRequest, *, timeout_s: float) -> AsyncGenerator[pb.AnswerResponse, None]:
        """The events of one answer; closing the generator stops the generator."""
        return self.peer.stream(self._stub.Answer, request, rpc="Answer", timeout_s=timeout_s)

    async def describe_generator(
        self, request: pb.DescribeGeneratorRequest, *, timeout_s: float
    ) -> pb.DescribeGeneratorResponse:
        """Which generator writes."""
        return await self.peer.call(
            self._stub.DescribeGenerator, request, rpc="DescribeGenerator", timeout_s=timeout_s, read=True
        )

    async def close(self) -> None:
        """Close the channel."""
        await self.peer.close()
