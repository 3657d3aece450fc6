"""A worker stands still until others have taken its item over, applied it and a newer change, and then goes on.

What it writes into the index then is older than what stands there. Stores and pipeline are real, the clock is not.
"""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from services.shared.catalog.documents import Delete
from tests.component.ingest.workers_world import LEASE_S, Embedder, Stop, StoppingIndex, World, at_work, opened_world
from tests.contract.catalog.examples import MANIFEST, accept


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[World]:
    async with opened_world(tmp_path, StoppingIndex) as opened:
        yield opened


@dataclass(frozen=True, slots=True)
class Slow:
    """The embedder of the worker that will stand still, and where it will."""

    embedder: Embedder
    stop: Stop


@pytest.fixture(params=["embedding", "writing"])
def slow(request: pytest.FixtureRequest, world: World) -> Slow:
    """One that stands still before it embeds, or before it writes into the index."""
    stop = Stop()
    if request.param == "embedding":
        return Slow(Embedder(stop), stop)
    assert isinstance(world.index, StoppingIndex)
    world.index.stop = stop
    return Slow(Embedder(), stop)


@pytest.mark.parametrize("was_there", [False, True])
@pytest.mark.parametrize("last", ["third", None])
async def test_a_worker_that_lost_its_lease_leaves_the_newest_text(
    world: World, slow: Slow, last: str | None, was_there: bool
) -> None:
    """`last` is the text that is written while it stands still with the second one; None is a deletion."""
    slow.stop.at = "second"
    async with at_work(world.worker("slow", slow.embedder)):
        if was_there:
            await accept(world.catalog, world.texts.put("first"), job_id="1")
            await world.nothing_waits()
        await accept(world.catalog, world.texts.put("second"), job_id="2")
        await slow.stop.reached.wait()
        world.now += 2 * LEASE_S
        async with at_work(world.worker("other", Embedder())):
            await accept(world.catalog, world.texts.put(last) if last else Delete("page"), job_id="3")
            await world.nothing_waits()
        assert await world.texts_of("g1") == ([last] if last else [])

        slow.stop.let_go.set()
        await accept(world.catalog, world.texts.put("unlike", "after"), job_id="4")
        await world.nothing_waits()

    assert await world.texts_of("g1") == ([last] if last else [])
    await world.require_right_statistics("g1")
    assert {job.state for job in await world.catalog.jobs.list(collection="pages", limit=10)} == {"succeeded"}


async def test_two_workers_with_the_same_item_count_it_once(world: World, slow: Slow) -> None:
    slow.stop.at = "first"
    job = await accept(world.catalog, world.texts.put("first"), job_id="1")
    async with at_work(world.worker("slow", slow.embedder)):
        await slow.stop.reached.wait()
        world.now += 2 * LEASE_S
        async with at_work(world.worker("other", Embedder())):
            await world.nothing_waits()
        slow.stop.let_go.set()
        await accept(world.catalog, world.texts.put("unlike", "after"), job_id="2")
        await world.nothing_waits()

    ended = await world.catalog.jobs.get(job.id)
    assert (ended.state, ended.outcomes.embedded, ended.done) == ("succeeded", 1, 1)
    assert await world.texts_of("g1") == ["first"]
    assert (await world.catalog.generations.get("g1")).documents == 2


async def test_a_builder_that_lost_its_lease_leaves_the_newest_text_in_what_is_built(world: World, slow: Slow) -> None:
    await accept(world.catalog, world.texts.put("first"), job_id="1")
    async with at_work(world.worker("other", Embedder())):
        await world.nothing_waits()
        slow.stop.at = "first"
        await world.index.create_generation("g2", 384, {})
        # Of another model, so that nothing is copied.
        manifest = replace(MANIFEST, weights_sha256="6" * 64)
        await world.catalog.builds.start("pages", generation_id="g2", manifest=manifest, job_id="b", now=world.now)
        async with at_work(world.builder("slow", slow.embedder)):
            await slow.stop.reached.wait()
            world.now += 2 * LEASE_S
            await accept(world.catalog, world.texts.put("second"), job_id="2")
            await world.nothing_waits()
            assert await world.texts_of("g2") == ["second"]
            slow.stop.let_go.set()
            while len(await world.catalog.jobs.list(collection="pages", limit=10)) < 4:
                await asyncio.sleep(0.01)
            await world.nothing_waits()

    assert await world.texts_of("g1") == await world.texts_of("g2") == ["second"]
    await world.require_right_statistics("g2")
    assert (await world.catalog.generations.get("g2")).state == "ready"
