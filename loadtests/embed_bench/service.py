"""The embedding service as a process of its own, and a client of it that tells vectors and times."""

import asyncio
import os
import sys
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import grpc
import numpy as np
import numpy.typing as npt
from grpc_health.v1 import health_pb2, health_pb2_grpc
from tokenizers import Tokenizer

from plumbline.embedding.v1 import embedding_pb2 as pb
from plumbline.embedding.v1.embedding_pb2_grpc import EmbeddingServiceStub
from services.local.failure import Failure
from services.local.loopback import free_ports
from services.shared.clients.vectors import unpack_vectors

Matrix = npt.NDArray[np.float32]
Counter = Callable[[str], int]
ROOT = Path(__file__).resolve().parents[2]
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
        pages = int(Path(f"/proc/{self.process.pid}/statm").read_text().split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


@asynccontextmanager
async def running_service(model: str, settings: Mapping[str, str], log: Path) -> AsyncIterator[Client]:
    """The service with this model, until the block ends. Raises Failure with its last words when it does not start."""
    port, metrics_port = free_ports(2)
    target = f"127.0.0.1:{port}"
    environment = os.environ | {
        "PLUMBLINE_EMBEDDING_PORT": str(port),
        "PLUMBLINE_EMBEDDING_METRICS_PORT": str(metrics_port),
        "PLUMBLINE_EMBEDDING_MODEL": model,
        **{f"PLUMBLINE_EMBEDDING_{name.upper()}": value for name, value in settings.items()},
    }
    with log.open("wb") as output:
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "services.embedding", env=environment, cwd=ROOT, stdout=output, stderr=output
        )
    try:
        async with grpc.aio.insecure_channel(target, options=_OPTIONS) as channel:
            await _ready(process, channel, log)
            metrics_url = f"http://127.0.0.1:{metrics_port}/metrics"
            yield Client(EmbeddingServiceStub(channel), process, target, metrics_url)
    finally:
        with suppress(ProcessLookupError):
            process.terminate()
        await process.wait()


async def _ready(process: asyncio.subprocess.Process, channel: grpc.aio.Channel, log: Path) -> None:
    health = health_pb2_grpc.HealthStub(channel)
    with suppress(TimeoutError):
        async with asyncio.timeout(_READY_WITHIN_S):
            while process.returncode is None:
                with suppress(grpc.aio.AioRpcError):
                    reply = await health.Check(health_pb2.HealthCheckRequest(), timeout=5)
                    if reply.status == health_pb2.HealthCheckResponse.SERVING:
                        return
                await asyncio.sleep(0.1)
    raise Failure(f"the embedding service did not start; its last words: {log.read_text().strip().splitlines()[-1:]}")
