"""What is compared, each behind the same call: the library itself, our service, and infinity over HTTP."""

import asyncio
import base64
import os
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any, Protocol

import httpx
import numpy as np

from loadtests.embed_bench.peer_environment import peer_python
from loadtests.embed_bench.service import Client
from services.local.failure import Failure
from services.local.loopback import free_ports

BATCH_SIZES = (8, 16, 32, 64)
_READY_WITHIN_S = 600.0


class Subject(Protocol):
    """Embeds texts; `name` stands in the table."""

    @property
    def name(self) -> str: ...

    async def embed(self, texts: Sequence[str], *, query: bool) -> None:
        """All vectors have come back."""

    async def embed_all(self, passages: Sequence[str]) -> None:
        """All passages in the way in which this subject is fastest."""


class Library:
    """`SentenceTransformer.encode` in this process; calls wait for each other, as in a server that does not batch."""

    def __init__(self, folder: Path, *, dtype: str, threads: int) -> None:
        import torch
        from sentence_transformers import SentenceTransformer

        torch.set_num_threads(threads)
        device = "cuda" if torch.cuda.is_available() else "cpu"
        self._module = SentenceTransformer(
            str(folder), device=device, local_files_only=True, model_kwargs={"dtype": getattr(torch, dtype)}
        )
        self._free = asyncio.Lock()
        self._batch_size = BATCH_SIZES[0]
        self.name = f"encode, {dtype}"

    async def embed(self, texts: Sequence[str], *, query: bool) -> None:
        """One call after the other."""
        async with self._free:
            await asyncio.to_thread(self._encode, texts, self._batch_size)

    async def embed_all(self, passages: Sequence[str]) -> None:
        """All at once, in the best batch size."""
        await asyncio.to_thread(self._encode, passages, self._batch_size)

    def choose_batch_size(self, passages: Sequence[str]) -> int:
        """The fastest batch size for these passages, from now on used; each is tried twice."""
        seconds: dict[int, float] = {}
        for size in BATCH_SIZES * 2:
            started = time.perf_counter()
            self._encode(passages, size)
            seconds[size] = min(seconds.get(size, float("inf")), time.perf_counter() - started)
        self._batch_size = min(seconds, key=seconds.__getitem__)
        return self._batch_size

    def _encode(self, texts: Sequence[str], size: int) -> None:
        self._module.encode(list(texts), batch_size=size, show_progress_bar=False)


class Service:
    """Ours, over gRPC."""

    def __init__(self, client: Client, *, in_flight: int, texts_a_call: int) -> None:
        self.client = client
        self._in_flight = in_flight
        self._texts_a_call = texts_a_call
        self.name = "plumbline"

    async def embed(self, texts: Sequence[str], *, query: bool) -> None:
        """One call."""
        await self.client.embed(texts, query=query)

    async def embed_all(self, passages: Sequence[str]) -> None:
        """Several calls at a time."""
        await in_calls(self, passages, in_flight=self._in_flight, texts_a_call=self._texts_a_call)


class Infinity:
    """The peer, over its OpenAI-compatible HTTP API; it has one lane for queries and passages."""

    def __init__(self, http: httpx.AsyncClient, *, in_flight: int, texts_a_call: int) -> None:
        self._http = http
        self._in_flight = in_flight
        self._texts_a_call = texts_a_call
        self.name = "infinity"

    async def embed(self, texts: Sequence[str], *, query: bool) -> None:
        """One call; vectors come as base64, the fastest of its formats."""
        body = {"model": "m", "input": list(texts), "encoding_format": "base64"}
        reply = await self._http.post("/embeddings", json=body)
        reply.raise_for_status()
        rows: Any = [np.frombuffer(base64.b64decode(row["embedding"]), np.float32) for row in reply.json()["data"]]
        if len(rows) != len(texts):
            raise Failure(f"infinity gave {len(rows)} vectors for {len(texts)} texts")

    async def embed_all(self, passages: Sequence[str]) -> None:
        """Several calls at a time."""
        await in_calls(self, passages, in_flight=self._in_flight, texts_a_call=self._texts_a_call)


async def in_calls(subject: Subject, passages: Sequence[str], *, in_flight: int, texts_a_call: int) -> None:
    """All passages in calls of so many texts, so many calls at a time."""
    left = [passages[start : start + texts_a_call] for start in range(0, len(passages), texts_a_call)][::-1]

    async def caller() -> None:
        while left:
            await subject.embed(left.pop(), query=False)

    await asyncio.gather(*(caller() for _ in range(in_flight)))


@asynccontextmanager
async def running_infinity(folder: Path, *, threads: int, log: Path) -> AsyncIterator[httpx.AsyncClient]:
    """infinity with this model until the block ends. Raises Failure when it does not start."""
    python = await asyncio.to_thread(peer_python)
    (port,) = free_ports(1)
    command = (
        *(str(python.with_name("infinity_emb")), "v2", "--model-id", str(folder), "--served-model-name", "m"),
        *("--host", "127.0.0.1", "--port", str(port), "--engine", "torch", "--log-level", "warning"),
    )
    # No network and no statistics to anybody; as many threads as everybody else.
    environment = os.environ | {
        "HF_HUB_OFFLINE": "1",
        "DO_NOT_TRACK": "1",
        "INFINITY_ANONYMOUS_USAGE_STATS": "0",
        "OMP_NUM_THREADS": str(threads),
        "OMP_WAIT_POLICY": "PASSIVE",
    }
    with log.open("wb") as output:
        process = await asyncio.create_subprocess_exec(*command, env=environment, stdout=output, stderr=output)
    try:
        limits = httpx.Limits(max_connections=256, max_keepalive_connections=256)
        async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}", timeout=600, limits=limits) as http:
            await _answers(process, http, log)
            yield http
    finally:
        with suppress(ProcessLookupError):
            process.terminate()
        await process.wait()


async def _answers(process: asyncio.subprocess.Process, http: httpx.AsyncClient, log: Path) -> None:
    with suppress(TimeoutError):
        async with asyncio.timeout(_READY_WITHIN_S):
            while process.returncode is None:
                with suppress(httpx.TransportError):
                    if (await http.post("/embeddings", json={"model": "m", "input": ["a"]})).is_success:
                        return
                await asyncio.sleep(0.5)
    raise Failure(f"infinity did not start; its last words: {log.read_text().strip().splitlines()[-1:]}")
