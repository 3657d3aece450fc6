"""The processes that offer a load: each sends its part of the rate, and their recordings are added up."""

import asyncio
import gc
import random
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from multiprocessing import get_context
from multiprocessing.connection import Connection

from loadtests.arrivals import ARRIVALS
from loadtests.grpc_sender import GrpcSender
from loadtests.http_sender import HttpSender
from loadtests.mix import Mix, Request
from loadtests.open_loop import offer
from loadtests.recording import Recording
from loadtests.reply import Reply
from loadtests.report import Setup
from services.local.failure import Failure

# From the last process's readiness to the start of the schedule.
_LEAD_S = 0.2
# Serials of one process end where those of the next begin.
_SERIALS = 10_000_000


@dataclass(frozen=True, slots=True)
class Load:
    """What is offered, and where: the gateway's URL, and `host:port` of services by name."""

    url: str
    targets: Mapping[str, str]
    mix: Mix
    setup: Setup


def generate(load: Load) -> Recording:
    """Offer the load and wait for its end. Blocks. Raises Failure when a process ends before its time."""
    context = get_context("spawn")
    with ExitStack() as cleanup:
        ends: list[Connection] = []
        for place in range(load.setup.processes):
            ours, theirs = context.Pipe()
            process = context.Process(target=_process, args=(load, place, theirs), daemon=True)
            process.start()
            theirs.close()
            cleanup.callback(process.join)
            cleanup.callback(process.terminate)
            ends.append(ours)
        try:
            for end in ends:
                end.recv()
            starts_at = time.monotonic() + _LEAD_S
            for end in ends:
                end.send(starts_at)
            return _sum([end.recv() for end in ends])
        except (EOFError, BrokenPipeError):
            raise Failure("a generator process ended before its time; what it said stands above") from None


def _sum(parts: Sequence[Recording]) -> Recording:
    total = Recording()
    for part in parts:
        total.add(part)
    return total


def _process(load: Load, place: int, end: Connection) -> None:
    gc.freeze()  # what the imports made stays: looking through it again and again would delay requests
    end.send("ready")
    # The monotonic clock is the machine's, so it means the same in every process; asyncio's is this one.
    end.send(asyncio.run(_offer_part(load, place, starts_at=end.recv())))


async def _offer_part(load: Load, place: int, *, starts_at: float) -> Recording:
    setup, mix = load.setup, load.mix
    # The schedule has chance of its own, so that it is the same whatever the mix draws.
    chance, draws = (random.Random(f"{setup.seed}/{place}/{use}") for use in ("arrivals", "requests"))
    due_s = ARRIVALS[setup.arrivals](setup.rate_per_s / setup.processes, setup.warm_up_s + setup.duration_s, chance)
    requests = mix.requests(draws, first_serial=place * _SERIALS)
    http = HttpSender(load.url, scratch=mix.scratch.name if mix.scratch else None)
    services = GrpcSender(load.targets)

    async def send(request: Request) -> Reply:
        return await (services if request.over == "grpc" else http).send(request)

    try:
        return await offer(
            due_s, requests, send, starts_at=starts_at, warm_up_s=setup.warm_up_s, duration_s=setup.duration_s
        )
    finally:
        await http.close()
        await services.close()
