"""The loop over leased batches: when it looks again, what it holds, and who fails for whom."""

import asyncio
from collections.abc import Sequence

import pytest

from services.ingest import leased_batches
from services.ingest.leased_batches import Bell, held, repeat, together_or_alone, until_answered
from services.shared.runtime.errors import Conflict, DependencyUnavailable

NEVER_S = 3600.0


async def until_cancelled(looking: "asyncio.Task[None]", done: asyncio.Event) -> None:
    async with asyncio.timeout(30):
        await done.wait()
    looking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await looking


async def test_the_next_look_is_at_once_while_there_is_work_and_waits_for_the_bell_when_there_is_none() -> None:
    bell, found = Bell(), [True, True, False]
    looks, at_rest, done = 0, asyncio.Event(), asyncio.Event()

    async def look() -> bool:
        nonlocal looks
        looks += 1
        if looks == len(found):
            at_rest.set()
        if looks > len(found):
            done.set()
            return False
        return found[looks - 1]

    looking = asyncio.create_task(repeat(look, bell, poll_s=NEVER_S))
    await at_rest.wait()
    await asyncio.sleep(0)
    assert looks == 3
    bell.ring()
    await until_cancelled(looking, done)


async def test_a_bell_that_rings_during_a_look_is_heard_after_it() -> None:
    bell, done = Bell(), asyncio.Event()
    looks = 0

    async def look() -> bool:
        nonlocal looks
        looks += 1
        if looks == 1:
            bell.ring()
        else:
            done.set()
        return False

    await until_cancelled(asyncio.create_task(repeat(look, bell, poll_s=NEVER_S)), done)


async def test_a_catalog_that_does_not_answer_is_asked_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(leased_batches, "_CATALOG_PAUSE_S", 0.0)
    done = asyncio.Event()
    looks = 0

    async def look() -> bool:
        nonlocal looks
        looks += 1
        if looks == 1:
            raise DependencyUnavailable("the catalog does not answer")
        done.set()
        return False

    await until_cancelled(asyncio.create_task(repeat(look, Bell(), poll_s=NEVER_S)), done)


async def test_leases_are_renewed_again_after_a_renewal_failed_and_not_after_the_block() -> None:
    renewed, twice = 0, asyncio.Event()

    async def renew() -> None:
        nonlocal renewed
        renewed += 1
        if renewed == 1:
            raise DependencyUnavailable("the catalog does not answer")
        twice.set()

    before = asyncio.all_tasks()
    async with asyncio.timeout(30), held(renew, lease_s=0.003):
        await twice.wait()
    assert asyncio.all_tasks() == before


async def test_a_batch_that_fails_is_done_item_by_item_and_only_the_bad_one_fails() -> None:
    tried: list[list[str]] = []
    failed: list[str] = []

    async def do(items: Sequence[str]) -> None:
        tried.append(list(items))
        if "bad" in items:
            raise ValueError("bad")

    async def do_alone(item: str) -> None:
        await do([item])

    async def note(item: str, error: Exception) -> None:
        failed.append(item)

    await together_or_alone(["a", "bad", "b"], do, do_alone, note)

    assert tried == [["a", "bad", "b"], ["a"], ["bad"], ["b"]]
    assert failed == ["bad"]


async def test_a_call_is_made_again_until_the_catalog_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(leased_batches, "_CATALOG_PAUSE_S", 0.0)
    calls = 0

    async def call() -> None:
        nonlocal calls
        calls += 1
        if calls < 3:
            raise DependencyUnavailable("the catalog does not answer")

    await until_answered(call)

    assert calls == 3


async def test_an_answer_that_refuses_is_passed_on() -> None:
    async def call() -> None:
        raise Conflict("the lease is lost")

    with pytest.raises(Conflict):
        await until_answered(call)
