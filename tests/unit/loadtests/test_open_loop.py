"""The accounting of the open loop against a clock that the test controls."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from itertools import count

import pytest

from loadtests.mix import Request
from loadtests.open_loop import offer
from loadtests.recording import Recording
from loadtests.reply import Reply
from tests.unit.loadtests.virtual_time import VirtualTimeLoop, run_virtually

Send = Callable[[Request], Awaitable[Reply]]


def requests(timeout_s: float = 10.0) -> Iterator[Request]:
    return (Request("short", "search", "http", {"number": number}, timeout_s) for number in count())


def offered(
    send: Send, due_s: list[float], *, timeout_s: float = 10.0, warm_up_s: float = 0.0, duration_s: float = 100.0
) -> Recording:
    return run_virtually(
        offer(due_s, requests(timeout_s), send, starts_at=0.0, warm_up_s=warm_up_s, duration_s=duration_s)
    )


def latencies_ms(recording: Recording) -> list[float]:
    """Every latency, sorted, as exactly as the histogram knows them."""
    histogram = recording.kinds["short"].measures["latency"]
    return [
        item.value_iterated_to / 1000
        for item in histogram.get_recorded_iterator()
        for _ in range(item.count_at_value_iterated_to)
    ]


async def at_once(_: Request) -> Reply:
    return Reply()


def test_requests_leave_when_they_are_due_whatever_becomes_of_the_ones_before() -> None:
    left_at: list[float] = []

    async def slow(_: Request) -> Reply:
        left_at.append(asyncio.get_running_loop().time())
        await asyncio.sleep(5)
        return Reply()

    recording = offered(slow, [0.5, 1.0, 1.5])
    assert left_at == pytest.approx([0.5, 1.0, 1.5])
    assert latencies_ms(recording) == pytest.approx([5000] * 3, rel=1e-3)


def test_latency_counts_from_the_intended_start_when_the_generator_itself_was_late() -> None:
    async def busy(request: Request) -> Reply:
        loop = asyncio.get_running_loop()
        assert isinstance(loop, VirtualTimeLoop)
        if request.body["number"] == 0:
            loop.work(0.9)  # keeps the next two requests, due at 0.2 and 0.7, from leaving before 1.0
        return Reply()

    recording = offered(busy, [0.1, 0.2, 0.7])
    assert latencies_ms(recording) == pytest.approx([300, 800, 900], rel=1e-3)
    assert recording.lag.get_max_value() / 1000 == pytest.approx(800, rel=1e-3)


def test_a_request_that_is_answered_in_time_has_no_lag() -> None:
    assert offered(at_once, [1.0, 2.0]).lag.get_max_value() == 1  # a microsecond is the least that is counted


def test_a_timeout_counts_as_latency_at_its_limit_and_as_an_error() -> None:
    async def never(_: Request) -> Reply:
        await asyncio.Event().wait()
        raise AssertionError

    recording = offered(never, [0.0, 1.0], timeout_s=3.0)
    assert latencies_ms(recording) == pytest.approx([3000, 3000], rel=1e-3)
    assert recording.kinds["short"].errors == {"timeout": 2}
    assert recording.kinds["short"].answered == 0


def test_the_timeout_counts_from_the_intended_start_too() -> None:
    ended_at: list[float] = []

    async def late_and_slow(_: Request) -> Reply:
        loop = asyncio.get_running_loop()
        assert isinstance(loop, VirtualTimeLoop)
        loop.work(2.0)
        try:
            await asyncio.sleep(60)
        finally:
            ended_at.append(loop.time())
        return Reply()

    offered(late_and_slow, [1.0], timeout_s=5.0)
    assert ended_at == pytest.approx([6.0])


def test_what_is_due_in_the_warm_up_is_sent_and_not_recorded() -> None:
    sent = []

    async def send(request: Request) -> Reply:
        sent.append(request)
        return Reply()

    recording = offered(send, [0.5, 1.5, 2.5, 3.5], warm_up_s=2.0, duration_s=2.0)
    assert len(sent) == 4
    assert recording.kinds["short"].sent == 2
    assert recording.lag.get_total_count() == 2


def test_the_achieved_rate_counts_answers_that_came_in_the_recorded_time() -> None:
    async def slow(_: Request) -> Reply:
        await asyncio.sleep(1)
        return Reply()

    # Answers at 1.5, 2.5, 3.5 and 4.5; recorded is 2.0 to 4.0.
    recording = offered(slow, [0.5, 1.5, 2.5, 3.5], warm_up_s=2.0, duration_s=2.0)
    assert recording.completed == 2


def test_a_server_that_stalls_is_seen_by_everybody_who_would_have_come_meanwhile() -> None:
    async def stalls(_: Request) -> Reply:
        loop = asyncio.get_running_loop()
        await asyncio.sleep(max(0.0, 0.2 - loop.time() % 1))  # the first 200 ms of every second
        return Reply()

    # 100 a second: in each second 20 wait, for 200, 190, ... 10 ms.
    recording = offered(stalls, [place / 100 for place in range(1000)])
    latency = recording.kinds["short"].measures["latency"]
    assert latency.get_value_at_percentile(99) / 1000 == pytest.approx(190, rel=0.06)
    assert sum(value >= 10 for value in latencies_ms(recording)) == pytest.approx(200, abs=10)
