"""The reason for the open loop: a server that stalls 200 ms once a second, asked both ways."""

import asyncio
import time
from itertools import repeat

from hdrh.histogram import HdrHistogram

from loadtests.http_sender import HttpSender
from loadtests.mix import Request
from loadtests.open_loop import offer
from loadtests.recording import histogram, record
from tests.component.loadtests.tiny_gateway import tiny_gateway

REQUEST = Request("short", "search", "http", {"query": "any"}, timeout_s=5.0)
RATE_PER_S = 50
DURATION_S = 4.0


async def open_loop(url: str) -> HdrHistogram:
    sender = HttpSender(url)
    due_s = [place / RATE_PER_S for place in range(int(DURATION_S * RATE_PER_S))]
    starts_at = asyncio.get_running_loop().time()
    recording = await offer(
        due_s, repeat(REQUEST), sender.send, starts_at=starts_at, warm_up_s=0.0, duration_s=DURATION_S
    )
    await sender.close()
    return recording.pooled("search", "latency")


async def closed_loop(url: str) -> HdrHistogram:
    """The counterexample: one caller who asks again when the answer is there, and measures from when it asked."""
    sender, latency = HttpSender(url), histogram()
    ends_at = time.monotonic() + DURATION_S
    while (asked_at := time.monotonic()) < ends_at:
        assert (await sender.send(REQUEST)).error is None
        record(latency, time.monotonic() - asked_at)
    await sender.close()
    return latency


def told(name: str, latency: HdrHistogram) -> float:
    """Print what a loop saw; its p99 in milliseconds."""
    p50, p95, p99 = (latency.get_value_at_percentile(percentile) / 1000 for percentile in (50, 95, 99))
    count, longest = latency.get_total_count(), latency.get_max_value() / 1000
    print(f"{name}: {count} requests, p50 {p50:.1f}, p95 {p95:.1f}, p99 {p99:.1f}, max {longest:.1f} ms")
    return p99


async def test_the_open_loop_sees_a_stall_that_a_closed_loop_hides() -> None:
    with tiny_gateway(stalls=True) as url:
        seen = told("open loop  ", await open_loop(url))
        hidden = told("closed loop", await closed_loop(url))
    # A fifth of all callers wait, 100 ms on average; the closed loop asks hundreds of times, and once in a stall.
    assert seen > 150
    assert hidden < 100
