"""The batcher: fair between lanes, bounded, and every waiter gets an answer, whatever happens on the device."""

import asyncio
import math
from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from contextlib import asynccontextmanager
from typing import Any, NamedTuple, TypeVar

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from services.shared.batching.batcher import Batched, Batcher, Lane, Work
from services.shared.batching.device import DeviceThread
from services.shared.runtime.errors import DeadlineExceeded, DependencyUnavailable, Overloaded
from tests.fakes.batching import HeldDevice, RecordedBatches


class Limits(NamedTuple):
    """Padded tokens of one batch, and waiting tokens from which on new work is refused."""

    batch_tokens: int
    queue_tokens: int


ROOMY = Limits(batch_tokens=100, queue_tokens=10_000)
T = TypeVar("T")


class Clock:
    """Time that the test sets."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


class House:
    """A batcher with everything that a test wants to see or to move."""

    def __init__(
        self, compute: Any, device: DeviceThread, query: Limits, ingest: Limits, *, patience_s: float = 5.0
    ) -> None:
        self.clock = Clock()
        self.seen = RecordedBatches()
        limits = {Lane.QUERY: query, Lane.INGEST: ingest}
        self.batch_tokens = {lane: limit.batch_tokens for lane, limit in limits.items()}
        self.work: Work[Any, Any] = Work(compute, self.batch_tokens)
        self.batcher = Batcher(
            device,
            {lane: limit.queue_tokens for lane, limit in limits.items()},
            ingest_patience_s=patience_s,
            observer=self.seen,
            clock=self.clock,
        )

    def start(
        self,
        lane: Lane,
        *items: object,
        length: int = 10,
        deadline: float = math.inf,
        work: Work[Any, Any] | None = None,
    ) -> asyncio.Task[Batched[Any]]:
        """Submit without waiting for the results."""
        return started(self.batcher.submit(work or self.work, lane, items, [length] * len(items), deadline=deadline))


def started(coroutine: Coroutine[Any, Any, T]) -> asyncio.Task[T]:
    return asyncio.get_running_loop().create_task(coroutine)


async def settled() -> None:
    """Let every task that can run do so."""
    for _ in range(5):
        await asyncio.sleep(0)


@asynccontextmanager
async def house(
    compute: Any, *, query: Limits = ROOMY, ingest: Limits = ROOMY, patience_s: float = 5.0
) -> AsyncIterator[House]:
    device = DeviceThread()
    try:
        yield House(compute, device, query, ingest, patience_s=patience_s)
    finally:
        if isinstance(compute, HeldDevice):
            compute.release(1000)
        await device.close()


def doubled(items: Sequence[int]) -> list[int]:
    return [2 * item for item in items]


def poisoned_by(*bad: int) -> Callable[[Sequence[int]], list[int]]:
    def compute(items: Sequence[int]) -> list[int]:
        if set(bad) & set(items):
            raise ValueError("poisoned")
        return doubled(items)

    return compute


async def test_results_come_back_in_the_order_of_the_items() -> None:
    async with house(doubled) as here:
        lengths = [30, 10, 50, 20, 40]
        batched = await here.batcher.submit(here.work, Lane.INGEST, [1, 2, 3, 4, 5], lengths, deadline=math.inf)
        assert batched.results == [2, 4, 6, 8, 10]


async def test_no_items_are_answered_at_once() -> None:
    async with house(doubled) as here:
        assert (await here.batcher.submit(here.work, Lane.QUERY, [], [], deadline=math.inf)).results == []


async def test_an_idle_device_begins_at_once_and_what_comes_meanwhile_shares_the_next_batch() -> None:
    held = HeldDevice()
    async with house(held) as here:
        first = here.start(Lane.QUERY, "a")
        assert await held.started.get() == ["a"]
        others = [here.start(Lane.QUERY, name) for name in "bcd"]
        await settled()
        held.release(2)
        assert await held.started.get() == ["b", "c", "d"]
        await asyncio.gather(first, *others)


async def test_queries_go_before_ingest_that_came_earlier() -> None:
    held = HeldDevice()
    async with house(held) as here:
        waiters = [here.start(Lane.INGEST, "p1", length=100)]
        assert await held.started.get() == ["p1"]
        waiters += [here.start(Lane.INGEST, "p2", length=100), here.start(Lane.QUERY, "q1")]
        await settled()
        held.release(3)
        assert [await held.started.get(), await held.started.get()] == [["q1"], ["p2"]]
        await asyncio.gather(*waiters)


async def test_ingest_that_was_passed_over_for_its_patience_goes_once_and_then_queries_again() -> None:
    held = HeldDevice()
    async with house(held) as here:
        waiters = [here.start(Lane.QUERY, "q1", length=100)]
        assert await held.started.get() == ["q1"]
        waiters += [here.start(Lane.INGEST, name, length=100) for name in ("p1", "p2")]
        waiters += [here.start(Lane.QUERY, name, length=100) for name in ("q2", "q3")]
        await settled()
        here.clock.now = 4.9
        held.release()
        assert await held.started.get() == ["q2"]
        here.clock.now = 5.0
        held.release()
        assert await held.started.get() == ["p1"]
        held.release()
        assert await held.started.get() == ["q3"]
        held.release(2)
        assert await held.started.get() == ["p2"]
        await asyncio.gather(*waiters)


async def test_a_full_lane_refuses_at_once_and_says_when_to_come_back() -> None:
    held = HeldDevice()
    async with house(held, query=Limits(batch_tokens=100, queue_tokens=20)) as here:
        waiters = [here.start(Lane.QUERY, "on the device")]
        await held.started.get()
        waiters += [here.start(Lane.QUERY, name) for name in ("waits", "waits too")]
        await settled()
        with pytest.raises(Overloaded) as refusal:
            await here.batcher.submit(here.work, Lane.QUERY, ["one too many"], [10], deadline=math.inf)
        assert refusal.value.retry_after_s is not None and refusal.value.retry_after_s > 0
        assert here.seen.refusals == [Lane.QUERY]
        held.release(2)
        await asyncio.gather(*waiters)
        assert here.seen.tokens_waiting[Lane.QUERY] == 0


async def test_a_full_ingest_lane_does_not_refuse_queries() -> None:
    held = HeldDevice()
    async with house(held, ingest=Limits(batch_tokens=10, queue_tokens=10)) as here:
        ingest = here.start(Lane.INGEST, "p1", "p2")
        await held.started.get()
        with pytest.raises(Overloaded):
            here.batcher.refuse_if_full(Lane.INGEST)
        query = here.start(Lane.QUERY, "q")
        held.release(3)
        assert (await query).results == ["q"]
        await ingest


async def test_cancelled_calls_cost_no_device_time_and_make_room_at_once() -> None:
    held = HeldDevice()
    async with house(held, query=Limits(batch_tokens=100, queue_tokens=20)) as here:
        first = here.start(Lane.QUERY, "on the device")
        await held.started.get()
        gone = here.start(Lane.QUERY, "gone", "gone too")
        await settled()
        gone.cancel()
        await settled()
        stays = here.start(Lane.QUERY, "stays")
        await settled()
        held.release(2)
        assert await held.started.get() == ["stays"]
        await asyncio.gather(first, stays)
        assert here.seen.drops == [(Lane.QUERY, "cancelled", 2)]


async def test_a_call_whose_deadline_passes_in_the_queue_is_told_so_and_costs_no_device_time() -> None:
    held = HeldDevice()
    async with house(held) as here:
        first = here.start(Lane.QUERY, "on the device")
        await held.started.get()
        late, in_time = here.start(Lane.QUERY, "late", deadline=3.0), here.start(Lane.QUERY, "in time", deadline=9.0)
        await settled()
        here.clock.now = 3.0
        held.release(2)
        assert await held.started.get() == ["in time"]
        with pytest.raises(DeadlineExceeded):
            await late
        await asyncio.gather(first, in_time)
        assert here.seen.drops == [(Lane.QUERY, "expired", 1)]


async def test_a_call_that_goes_away_while_its_batch_runs_does_not_disturb_its_neighbour() -> None:
    held = HeldDevice()
    async with house(held) as here:
        first = here.start(Lane.QUERY, "first")
        await held.started.get()
        goes, stays = here.start(Lane.QUERY, "goes"), here.start(Lane.QUERY, "stays")
        await settled()
        held.release()
        assert await held.started.get() == ["goes", "stays"]
        goes.cancel()
        held.release()
        assert (await stays).results == ["stays"]
        await first


@settings(max_examples=30, deadline=None)
@given(size=st.integers(1, 16), data=st.data())
async def test_one_poisoned_item_fails_its_own_call_and_no_other(size: int, data: st.DataObject) -> None:
    bad = data.draw(st.integers(0, size - 1))
    async with house(poisoned_by(bad)) as here:
        calls = [here.start(Lane.INGEST, item, length=1) for item in range(size)]
        outcomes = await asyncio.gather(*calls, return_exceptions=True)
    for item, outcome in enumerate(outcomes):
        if item == bad:
            assert isinstance(outcome, ValueError)
        else:
            assert isinstance(outcome, Batched) and outcome.results == [2 * item]


async def test_a_device_that_fails_whatever_it_gets_is_asked_three_times_for_one_batch() -> None:
    def broken(items: Sequence[int]) -> list[int]:
        raise RuntimeError("no device")

    async with house(broken) as here:
        calls = [here.start(Lane.INGEST, item, length=1) for item in range(16)]
        outcomes = await asyncio.gather(*calls, return_exceptions=True)
        assert all(isinstance(outcome, RuntimeError) for outcome in outcomes)
        assert here.seen.failures == [(Lane.INGEST, 16), (Lane.INGEST, 8), (Lane.INGEST, 8)]


async def test_a_batch_that_is_too_much_at_once_succeeds_in_halves() -> None:
    def small(items: Sequence[int]) -> list[int]:
        if len(items) > 2:
            raise MemoryError
        return doubled(items)

    async with house(small) as here:
        assert (
            await here.batcher.submit(here.work, Lane.INGEST, [1, 2, 3, 4], [1] * 4, deadline=math.inf)
        ).results == [
            2,
            4,
            6,
            8,
        ]


async def test_the_batch_after_a_failed_one_is_served() -> None:
    async with house(poisoned_by(13)) as here:
        with pytest.raises(ValueError, match="poisoned"):
            await here.batcher.submit(here.work, Lane.QUERY, [13], [1], deadline=math.inf)
        assert (await here.batcher.submit(here.work, Lane.QUERY, [2], [1], deadline=math.inf)).results == [4]


async def test_a_failed_call_gives_up_its_items_that_still_wait() -> None:
    async with house(poisoned_by(1), ingest=Limits(batch_tokens=10, queue_tokens=1000)) as here:
        with pytest.raises(ValueError, match="poisoned"):
            await here.batcher.submit(here.work, Lane.INGEST, [1, 2, 3], [10] * 3, deadline=math.inf)
        await settled()
        assert here.seen.drops == [(Lane.INGEST, "failed", 2)]
        assert here.seen.tokens_waiting[Lane.INGEST] == 0


async def test_a_device_that_gives_too_few_results_fails_the_batch() -> None:
    async with house(lambda items: []) as here:
        with pytest.raises(ValueError):
            await here.batcher.submit(here.work, Lane.QUERY, [1], [1], deadline=math.inf)


async def test_time_is_told_apart_into_waiting_and_device() -> None:
    held = HeldDevice()
    async with house(held) as here:
        first = here.start(Lane.QUERY, "first")
        await held.started.get()
        second = here.start(Lane.QUERY, "second")
        await settled()
        here.clock.now = 2.0
        held.release()
        await held.started.get()
        here.clock.now = 5.0
        held.release()
        assert ((await first).queue_s, (await first).device_s) == (0.0, 2.0)
        assert ((await second).queue_s, (await second).device_s) == (2.0, 3.0)


async def test_batches_are_observed_with_their_padding() -> None:
    async with house(doubled) as here:
        await here.batcher.submit(here.work, Lane.INGEST, [1, 2, 3], [30, 10, 20], deadline=math.inf)
        assert here.seen.batches == [(Lane.INGEST, 60, 90)]


async def test_without_patience_lanes_take_turns_so_that_neither_starves() -> None:
    held = HeldDevice()
    async with house(held, patience_s=0) as here:
        waiters = [here.start(Lane.INGEST, "p1", length=100)]
        assert await held.started.get() == ["p1"]
        waiters += [here.start(Lane.INGEST, name, length=100) for name in ("p2", "p3")]
        waiters += [here.start(Lane.QUERY, name, length=100) for name in ("q1", "q2")]
        await settled()
        held.release(5)
        await asyncio.gather(*waiters)
        assert [held.started.get_nowait() for _ in range(4)] == [["q1"], ["p2"], ["q2"], ["p3"]]


async def test_two_models_share_the_device_and_no_batch_and_the_one_that_waits_longest_goes_first() -> None:
    held = HeldDevice()
    async with house(held) as here:
        other = Work(held, here.batch_tokens)
        waiters = [here.start(Lane.QUERY, "on the device")]
        await held.started.get()
        waiters += [
            here.start(Lane.QUERY, "a1"),
            here.start(Lane.QUERY, "b1", work=other),
            here.start(Lane.QUERY, "a2"),
            here.start(Lane.QUERY, "b2", work=other),
        ]
        await settled()
        held.release(3)
        await asyncio.gather(*waiters)
        assert [held.started.get_nowait() for _ in range(2)] == [["a1", "a2"], ["b1", "b2"]]


async def test_equal_items_of_one_batch_are_computed_once_for_all_that_wait() -> None:
    held = HeldDevice()
    async with house(held) as here:
        first = here.start(Lane.QUERY, "first")
        await held.started.get()
        calls = [
            here.start(Lane.QUERY, "same", "other"),
            here.start(Lane.QUERY, "same"),
            here.start(Lane.QUERY, "same"),
        ]
        await settled()
        held.release(2)
        assert await held.started.get() == ["same", "other"]
        results = [(await call).results for call in calls]
        await first
    assert results == [["same", "other"], ["same"], ["same"]]
    assert here.seen.batches[-1] == (Lane.QUERY, 20, 20)


async def test_a_poisoned_item_that_several_calls_wait_for_fails_these_and_no_other() -> None:
    async with house(poisoned_by(13)) as here:
        calls = [here.start(Lane.INGEST, item, length=1) for item in (13, 1, 13, 2)]
        outcomes = await asyncio.gather(*calls, return_exceptions=True)
    assert [isinstance(outcome, ValueError) for outcome in outcomes] == [True, False, True, False]


@pytest.mark.parametrize("kind", [Overloaded, DependencyUnavailable])
async def test_an_error_that_is_no_items_fault_fails_the_batch_without_another_try(kind: type[Exception]) -> None:
    def refusing(items: Sequence[int]) -> list[int]:
        raise kind("come back later")

    async with house(refusing) as here:
        calls = [here.start(Lane.INGEST, item, length=1) for item in range(4)]
        outcomes = await asyncio.gather(*calls, return_exceptions=True)
        assert all(isinstance(outcome, kind) for outcome in outcomes)
        assert here.seen.failures == [(Lane.INGEST, 4)]


@settings(max_examples=30, deadline=None)
@given(
    calls=st.lists(
        st.tuples(
            st.sampled_from(Lane), st.booleans(), st.lists(st.tuples(st.integers(0, 5), st.integers(1, 60)), max_size=6)
        ),
        max_size=12,
    )
)
async def test_every_call_gets_its_own_results_whatever_shares_its_batches(
    calls: list[tuple[Lane, bool, list[tuple[int, int]]]],
) -> None:
    async with house(doubled, query=Limits(64, 10_000), ingest=Limits(100, 10_000), patience_s=0) as here:
        negated = Work(lambda items: [-item[0] for item in items], here.batch_tokens)
        first = Work(lambda items: [item[0] for item in items], here.batch_tokens)
        waiting = [
            started(
                here.batcher.submit(
                    negated if is_negated else first, lane, items, [length for _, length in items], deadline=math.inf
                )
            )
            for lane, is_negated, items in calls
        ]
        results = [(await call).results for call in waiting]
        assert here.seen.tokens_waiting == dict.fromkeys(Lane, 0)
    assert results == [[-value if is_negated else value for value, _ in items] for _, is_negated, items in calls]
