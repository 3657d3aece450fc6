"""A real process: readiness, SIGTERM with a call inside, settings that refuse to start."""

import asyncio
import json
import os
import signal
import sys
from asyncio.subprocess import DEVNULL, PIPE, Process

import grpc
import pytest

from plumbline.ranking.v1 import ranking_pb2 as pb
from plumbline.ranking.v1.ranking_pb2_grpc import RankingServiceStub


async def start(**environment: str) -> Process:
    return await asyncio.create_subprocess_exec(
        sys.executable, "-m", "services.ranking",
        env={**os.environ, **environment}, stderr=PIPE, stdout=DEVNULL,
    )  # fmt: skip


async def port_of(process: Process) -> int:
    async for line in process.stderr:
        event = json.loads(line)
        if event["event"] == "serving":
            return event["port"]
    raise AssertionError("the process ended before it served")


async def test_sigterm_drains_and_exits_with_zero() -> None:
    process = await start(PLUMBLINE_RANKING_PORT="0", PLUMBLINE_RANKING_DRAIN_S="0.5")
    port = await asyncio.wait_for(port_of(process), 30)
    async with grpc.aio.insecure_channel(f"127.0.0.1:{port}") as channel:
        stub = RankingServiceStub(channel)
        request = pb.RankRequest(settings=pb.RankingSettings(relevance=pb.RELEVANCE_FUSED), fused_top=1)
        await stub.Rank(request, timeout=5)
        process.send_signal(signal.SIGTERM)
        await stub.Rank(request, timeout=5)  # while endpoints drain, calls are still served
    assert await asyncio.wait_for(process.wait(), 30) == 0


@pytest.mark.parametrize(
    ("environment", "sentence"),
    [
        ({}, "PLUMBLINE_RANKING_PORT: Field required"),
        ({"PLUMBLINE_RANKING_PORT": "high"}, "PLUMBLINE_RANKING_PORT: Input should be a valid integer"),
        (
            {"PLUMBLINE_RANKING_PORT": "0", "PLUMBLINE_RANKING_DRIAN_S": "1"},
            "PLUMBLINE_RANKING_DRIAN_S is not a setting",
        ),
        (
            {"PLUMBLINE_RANKING_PORT": "0", "PLUMBLINE_RANKING_MAX_CONNECTION_AGE_GRACE_S": "1"},
            "PLUMBLINE_RANKING_MAX_CONNECTION_AGE_GRACE_S must be at least PLUMBLINE_RANKING_GRACE_S",
        ),
    ],
)
async def test_wrong_settings_refuse_to_start_with_one_sentence(environment: dict[str, str], sentence: str) -> None:
    process = await start(**environment)
    _, stderr = await asyncio.wait_for(process.communicate(), 30)
    assert process.returncode == 2
    assert stderr.decode().startswith(f"refusing to start: {sentence}")
    assert stderr.count(b"\n") == 1


async def test_a_taken_port_is_one_sentence() -> None:
    first = await start(PLUMBLINE_RANKING_PORT="0")
    port = await asyncio.wait_for(port_of(first), 30)
    second = await start(PLUMBLINE_RANKING_PORT=str(port))
    _, stderr = await asyncio.wait_for(second.communicate(), 30)
    first.terminate()
    await asyncio.wait_for(first.wait(), 30)
    assert second.returncode == 1
    last = stderr.decode().strip().splitlines()[-1]
    assert last == f"port {port} on 127.0.0.1 is taken; free it or set PLUMBLINE_RANKING_PORT"
