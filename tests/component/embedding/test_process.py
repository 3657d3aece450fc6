"""The embedding service as a process: SIGTERM while many callers wait."""

import asyncio
import os
from collections import Counter
from pathlib import Path

from loadtests.embed_bench.service import running_service
from plumbline.embedding.v1 import embedding_pb2 as pb
from services.shared.clients.embedding import EmbeddingClient
from services.shared.runtime.errors import DependencyUnavailable
from services.shared.runtime.rpc_metrics import RpcMetrics
from tests.fakes.serving import recorded_telemetry

CALLERS = 32


async def test_sigterm_under_load_leaves_no_caller_without_an_answer_and_the_process_ends_well() -> None:
    telemetry = recorded_telemetry("search").telemetry
    async with running_service("hashing", {}, Path(os.devnull)) as running:
        client = EmbeddingClient(running.target, telemetry, RpcMetrics("search", telemetry.registry))
        outcomes: Counter[str] = Counter()

        async def ask(number: int) -> None:
            request = pb.EmbedRequest(texts=[f"text {number} {part}" for part in range(50)], purpose=pb.PURPOSE_PASSAGE)
            try:
                while True:
                    await client.embed(request, timeout_s=30)
                    outcomes["answered"] += 1
            except DependencyUnavailable:
                outcomes["unavailable"] += 1

        callers = [asyncio.ensure_future(ask(number)) for number in range(CALLERS)]
        while outcomes["answered"] < 2 * CALLERS:
            await asyncio.sleep(0.01)
        running.process.terminate()
        await asyncio.wait_for(asyncio.gather(*callers), 60)
        assert await asyncio.wait_for(running.process.wait(), 60) == 0
        await client.close()
    assert outcomes["unavailable"] == CALLERS
