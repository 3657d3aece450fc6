"""The embedding service as a process of its own, and a client of it that tells vectors and times."""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
from tokenizers import Tokenizer

from loadtests.own_service import own_service
from loadtests.process_figures import resident_mib
from plumbline.embedding.v1 import embedding_pb2 as pb
from plumbline.embedding.v1.embedding_pb2_grpc import EmbeddingServiceStub
from services.shared.clients.vectors import unpack_vectors

Matrix = npt.NDArray[np.float32]
Counter = Callable[[str], int]
_READY_WITHIN_S = 300.0
_CALL_S = 600.0
_OPTIONS = [("grpc.max_receive_message_length", 32 * 2**20), ("grpc.max_send_message_length", 32 * 2**20)]


@dataclass(frozen=True, slots=True)
class Client:
    """Calls one running service."""

    stub: EmbeddingServiceStub
    process: asyncio.subprocess.Process
    target: str
    metrics_url: str

    async def embed(self, texts: Sequence[str], *, query: bool, truncate: bool = False) -> Matrix:
        """(n, d) float32: a row for each window of each text."""
        purpose = pb.PURPOSE_QUERY if query else pb.PURPOSE_PASSAGE
        request = pb.EmbedRequest(texts=texts, purpose=purpose, truncate=truncate)
        reply = await self.stub.Embed(request, timeout=_CALL_S)
        return unpack_vectors(reply.vectors, field="vectors")

    async def windows(self, text: str) -> Matrix:
        """(windows, d) float32 of one passage."""
        return await self.embed([text], query=False)

    async def token_counter(self) -> Counter:
        """Counts tokens with the model's own tokenizer."""
        facts = await self.describe(with_tokenizer=True)
        tokenizer: Tokenizer = Tokenizer.from_buffer(facts.tokenizer_json)
        return lambda text: len(tokenizer.encode(text, add_special_tokens=False).ids)

    async def describe(self, *, with_tokenizer: bool = False) -> pb.DescribeModelResponse:
        """The facts of the model."""
        request = pb.DescribeModelRequest(with_tokenizer=with_tokenizer)
        facts: pb.DescribeModelResponse = await self.stub.DescribeModel(request, timeout=60)
        return facts

    def resident_mib(self) -> float:
        """Memory of the process."""
        return resident_mib(self.process.pid)


@asynccontextmanager
async def running_service(model: str, settings: Mapping[str, str], log: Path) -> AsyncIterator[Client]:
    """The service with this model, until the block ends. Raises Failure with its last words when it does not start."""
    knobs = {"MODEL": model, **{name.upper(): value for name, value in settings.items()}}
    starting = own_service("embedding", knobs, log, ready_within_s=_READY_WITHIN_S, options=_OPTIONS)
    async with starting as service:
        yield Client(EmbeddingServiceStub(service.channel), service.process, service.target, service.metrics_url)
