"""One gRPC service of this checkout as a process of its own."""

import asyncio
import os
import sys
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import grpc
from grpc_health.v1 import health_pb2, health_pb2_grpc

from services.local.bootstrap import ROOT
from services.local.failure import Failure
from services.local.loopback import free_ports


@dataclass(frozen=True, slots=True)
class OwnService:
    """A running service: a channel to it, its `host:port`, its process and the address of its metrics."""

    channel: grpc.aio.Channel
    target: str
    process: asyncio.subprocess.Process
    metrics_url: str


@asynccontextmanager
async def own_service(
    name: str,
    settings: Mapping[str, object],
    log: Path,
    *,
    ready_within_s: float,
    options: Sequence[tuple[str, Any]] = (),
) -> AsyncIterator[OwnService]:
    """The service `name`, until the block ends.

    `settings` are its knobs without their prefix, ports left out; `options` are the channel's. Raises Failure with the
    service's last words when it does not start.
    """
    port, metrics_port = free_ports(2)
    target = f"127.0.0.1:{port}"
    knobs = {"PORT": port, "METRICS_PORT": metrics_port, **settings}
    environment = os.environ | {f"PLUMBLINE_{name.upper()}_{knob}": str(value) for knob, value in knobs.items()}
    with log.open("wb") as output:
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-m", f"services.{name}", env=environment, cwd=ROOT, stdout=output, stderr=output
        )
    try:
        async with grpc.aio.insecure_channel(target, options=options) as channel:
            if not await _is_ready(process, channel, ready_within_s):
                raise Failure(f"{name} did not start; its last words: {log.read_text().strip().splitlines()[-1:]}")
            yield OwnService(channel, target, process, f"http://127.0.0.1:{metrics_port}/metrics")
    finally:
        with suppress(ProcessLookupError):
            process.terminate()
        await process.wait()


async def _is_ready(process: asyncio.subprocess.Process, channel: grpc.aio.Channel, within_s: float) -> bool:
    health = health_pb2_grpc.HealthStub(channel)
    with suppress(TimeoutError):
        async with asyncio.timeout(within_s):
            while process.returncode is None:
                with suppress(grpc.aio.AioRpcError):
                    reply = await health.Check(health_pb2.HealthCheckRequest(), timeout=5)
                    if reply.status == health_pb2.HealthCheckResponse.SERVING:
                        return True
                await asyncio.sleep(0.1)
    return False
