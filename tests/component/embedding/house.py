"""The embedding service behind a real gRPC server, and a device that the test can hold."""

import asyncio
import threading
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import grpc
import numpy as np
import pytest

from plumbline.embedding.v1 import embedding_pb2 as pb
from plumbline.embedding.v1.embedding_pb2_grpc import EmbeddingServiceStub
from services.embedding.domain.embedding import Purpose
from services.embedding.domain.unit_vectors import Matrix
from services.embedding.domain.windows import Piece
from services.embedding.loaded_models import ModelSource
from services.embedding.ports import Encoder
from services.embedding.settings import EmbeddingSettings
from services.embedding.wiring import assemble, build
from services.shared.clients.vectors import unpack_vectors
from tests.fakes.encoder import FakeEncoder
from tests.fakes.serving import RecordedTelemetry, Served, channel_to, recorded_telemetry, served

PREFIX = "plumbline_embedding"


@dataclass(frozen=True, slots=True)
class House:
    """A running service and the way to call it."""

    stub: EmbeddingServiceStub
    recorded: RecordedTelemetry
    served: Served

    async def embed(self, *texts: str, purpose: Any = pb.PURPOSE_QUERY, timeout: float = 30, **fields: Any) -> Any:
        request = pb.EmbedRequest(texts=texts, purpose=purpose, **fields)
        return await self.stub.Embed(request, timeout=timeout)

    def sample(self, name: str, **labels: str) -> float | None:
        return self.recorded.sample(f"{PREFIX}_{name}", **labels)


def settings_with(**knobs: Any) -> EmbeddingSettings:
    return EmbeddingSettings(port=0, **knobs)


@asynccontextmanager
async def house(encoder: FakeEncoder | None = None, model: str = "hashing", **knobs: Any) -> AsyncIterator[House]:
    """The service with the fake encoder, or else with what the settings name, by default the hashing one."""
    recorded = recorded_telemetry("embedding")
    settings = settings_with(model=model, **knobs)
    if encoder:
        app = assemble(settings, recorded.telemetry, encoders=[source_of(encoder)])
    else:
        app = await build(settings, recorded.telemetry)
    async with served(app, settings, recorded.telemetry) as running, channel_to(running.target) as channel:
        if encoder:
            encoder.batches.clear()  # those before it was ready
        yield House(EmbeddingServiceStub(channel), recorded, running)


def source_of(encoder: FakeEncoder) -> ModelSource[Encoder]:
    return ModelSource("fake", lambda: encoder)


class HeldForward:
    """A forward pass that reports its start and waits to be let through."""

    def __init__(self, encoder: FakeEncoder) -> None:
        self.started: asyncio.Queue[int] = asyncio.Queue()
        self._encoder = encoder
        self._loop = asyncio.get_running_loop()
        self._permits = threading.Semaphore(0)
        self._open = False

    def __call__(self, windows: Sequence[Sequence[Piece]]) -> Matrix:
        self._loop.call_soon_threadsafe(self.started.put_nowait, len(windows))
        if not self._open:
            self._permits.acquire()
        return self._encoder.hashed(windows)

    def release(self) -> None:
        """Hold nothing any more."""
        self._open = True
        self._permits.release(100)


@asynccontextmanager
async def held_house(**knobs: Any) -> AsyncIterator[tuple[House, HeldForward]]:
    encoder = FakeEncoder()
    async with house(encoder, **knobs) as here:
        held = HeldForward(encoder)
        encoder.compute = held
        try:
            yield here, held
        finally:
            held.release()


def rows(reply: Any) -> np.ndarray:
    return unpack_vectors(reply.vectors, field="vectors")


async def refused(call: Any) -> grpc.aio.AioRpcError:
    with pytest.raises(grpc.aio.AioRpcError) as refusal:
        await call
    return refusal.value


def cost(text: str) -> int:
    """Tokens that a short text takes in the queue."""
    (tokenized,) = FakeEncoder().tokenize([text], Purpose.QUERY, truncate=False)
    return len(tokenized.windows[0].pieces)


async def waiting_tokens(here: House, lane: str) -> None:
    """Return when something waits in the lane."""
    while not here.sample("queue_tokens", lane=lane):
        await asyncio.sleep(0.005)
