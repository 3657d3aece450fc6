"""Sends requests to single services over gRPC; a body is the JSON form of the request's message."""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

import grpc
from google.protobuf.descriptor import MethodDescriptor
from google.protobuf.json_format import ParseDict
from google.protobuf.message_factory import GetMessageClass

from loadtests.mix import Call, Request
from loadtests.reply import Reply
from plumbline.answer.v1 import answer_pb2
from plumbline.embedding.v1 import embedding_pb2
from plumbline.search.v1 import search_pb2
from services.shared.runtime.channel import open_channel

# The service of each call, as targets name it.
SERVICES: Mapping[Call, str] = {"search": "search", "answer": "answer", "embed": "embedding"}
_METHODS: Mapping[Call, MethodDescriptor] = {
    "search": search_pb2.DESCRIPTOR.services_by_name["SearchService"].methods_by_name["Search"],
    "answer": answer_pb2.DESCRIPTOR.services_by_name["AnswerService"].methods_by_name["Answer"],
    "embed": embedding_pb2.DESCRIPTOR.services_by_name["EmbeddingService"].methods_by_name["Embed"],
}
_UNIT = "_ms"


class GrpcSender:
    """One caller with a channel to each service; `targets` are `host:port` by service."""

    def __init__(self, targets: Mapping[str, str]) -> None:
        self._clock = asyncio.get_running_loop().time
        self._channels = {service: open_channel(target) for service, target in targets.items()}

    async def send(self, request: Request) -> Reply:
        """The reply to one request; a failure is a reply too, only cancellation is not."""
        method, channel = _METHODS[request.call], self._channels[SERVICES[request.call]]
        path = f"/{method.containing_service.full_name}/{method.name}"
        message = ParseDict(dict(request.body), GetMessageClass(method.input_type)())
        serialise, parse = type(message).SerializeToString, GetMessageClass(method.output_type).FromString
        try:
            if not method.server_streaming:
                call = channel.unary_unary(path, serialise, parse)
                return _whole(await call(message, timeout=request.timeout_s))
            stream = channel.unary_stream(path, serialise, parse)
            return await self._answer(stream(message, timeout=request.timeout_s))
        except grpc.aio.AioRpcError as error:
            return Reply(error=error.code().name)

    async def _answer(self, events: Any) -> Reply:
        tokens_at: list[float] = []
        async for event in events:
            match event.WhichOneof("event"):
                case "delta":
                    tokens_at.append(self._clock())
                case "done":
                    return _whole(event.done, tokens_at)
                case "failure":
                    return Reply(error=f"event {event.failure.code}")
        return Reply(error="cut off")

    async def close(self) -> None:
        """Close all channels."""
        for channel in self._channels.values():
            await channel.close()


def _whole(message: Any, tokens_at: Sequence[float] = ()) -> Reply:
    """The reply that a message tells; not every one can be degraded."""
    stages = {field.name.removesuffix(_UNIT): value for field, value in message.timings.ListFields()}
    return Reply(degraded=tuple(getattr(message, "degraded", ())), stages_ms=stages, tokens_at=tokens_at)
