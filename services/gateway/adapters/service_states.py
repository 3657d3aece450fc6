"""The state of the services behind the gateway, asked of each one's standard health service."""

import asyncio
from collections.abc import Awaitable, Mapping
from dataclasses import dataclass
from typing import TypeVar

import grpc
from google.protobuf.descriptor import ServiceDescriptor
from grpc_health.v1 import health_pb2, health_pb2_grpc

from services.gateway import convert
from services.gateway.bodies.status import GeneratorStatus, ModelStatus, ServiceStatus
from services.shared.clients.answer import AnswerClient
from services.shared.clients.embedding import EmbeddingClient
from services.shared.runtime.errors import PlumblineError
from services.shared.runtime.metadata import VERSION, value_of

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Service:
    """Where a service is asked for its health, and under which name."""

    channel: grpc.aio.Channel
    descriptor: ServiceDescriptor


class ServiceStates:
    """Asks all services side by side; none is waited for longer than `timeout_s`."""

    def __init__(
        self,
        services: Mapping[str, Service],
        embedding: EmbeddingClient,
        answer: AnswerClient,
        *,
        timeout_s: float,
    ) -> None:
        self._services = services
        self._embedding = embedding
        self._answer = answer
        self._timeout_s = timeout_s

    async def services(self) -> dict[str, ServiceStatus]:
        """See `System`."""
        states = await asyncio.gather(*(self._state(service) for service in self._services.values()))
        return dict(zip(self._services, states, strict=True))

    async def model(self) -> ModelStatus | None:
        """See `System`."""
        reply = await _or_none(self._embedding.describe_model(convert.model_to_proto(), timeout_s=self._timeout_s))
        return None if reply is None else convert.model_from_proto(reply)

    async def generator(self) -> GeneratorStatus | None:
        """See `System`."""
        reply = await _or_none(self._answer.describe_generator(convert.generator_to_proto(), timeout_s=self._timeout_s))
        return None if reply is None else convert.generator_from_proto(reply)

    async def _state(self, service: Service) -> ServiceStatus:
        request = health_pb2.HealthCheckRequest(service=service.descriptor.full_name)
        check = health_pb2_grpc.HealthStub(service.channel).Check(request, timeout=self._timeout_s)
        try:
            reply = await check
            version = value_of(await check.initial_metadata(), VERSION)
        except grpc.aio.AioRpcError:
            return ServiceStatus(state="unreachable", version=None)
        is_serving = reply.status == health_pb2.HealthCheckResponse.SERVING
        return ServiceStatus(state="serving" if is_serving else "not_serving", version=version)


async def _or_none(asked: Awaitable[T]) -> T | None:
    try:
        return await asked
    except PlumblineError:
        return None
