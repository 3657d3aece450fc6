"""Upkeep over a real catalog: which generations are optimized, and what the catalog then says of them."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from services.ingest.maintenance import Maintenance
from services.shared.catalog.catalog import Catalog
from services.shared.runtime.errors import DependencyUnavailable
from tests.contract.catalog.examples import a_collection, a_page, accept, apply_all
from tests.fakes.fake_index import FakeIndex


class WatchedIndex(FakeIndex):
    """An index that keeps what was optimized; `during` happens in the middle of it."""

    def __init__(self) -> None:
        super().__init__()
        self.optimized: asyncio.Queue[str] = asyncio.Queue()
        self.during: list[object] = []

    async def optimize(self, generation_id: str) -> None:
        for step in self.during:
            if isinstance(step, Exception):
                self.during.remove(step)
                raise step
            await step()  # type: ignore[operator]
        self.optimized.put_nowait(generation_id)


@pytest.fixture
async def catalog(tmp_path: Path) -> AsyncIterator[Catalog]:
    opened = await Catalog.open(f"sqlite:///{tmp_path}/catalog.db")
    await a_collection(opened, "pages", generation_id="g1")
    await a_collection(opened, "quiet", generation_id="g2")
    yield opened
    await opened.close()


async def is_optimized(catalog: Catalog, generation_id: str) -> bool:
    return (await catalog.generations.get(generation_id)).is_optimized


async def until_optimized(catalog: Catalog, index: WatchedIndex, *, rounds: int = 1) -> list[str]:
    """What was optimized until upkeep found nothing more to do."""
    running = asyncio.create_task(Maintenance(catalog, index, every_s=0.001).run())
    async with asyncio.timeout(30):
        seen = [await index.optimized.get() for _ in range(rounds)]
        while await catalog.generations.not_optimized():
            await asyncio.sleep(0.001)
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)
    return seen


async def test_an_empty_generation_needs_no_upkeep(catalog: Catalog) -> None:
    assert await catalog.generations.not_optimized() == ()
    assert await is_optimized(catalog, "g1")


async def test_a_changed_generation_is_optimized_once(catalog: Catalog) -> None:
    index = WatchedIndex()
    await accept(catalog, a_page("a"), a_page("b"))
    await apply_all(catalog)
    assert not await is_optimized(catalog, "g1")

    assert await until_optimized(catalog, index) == ["g1"]

    assert index.optimized.empty()
    assert await is_optimized(catalog, "g1")


async def test_a_change_during_upkeep_is_a_matter_of_the_next_round(catalog: Catalog) -> None:
    index = WatchedIndex()
    await accept(catalog, a_page("a"))
    await apply_all(catalog)

    async def change() -> None:
        index.during.clear()
        await accept(catalog, a_page("b"), job_id="second")
        await apply_all(catalog)

    index.during.append(change)

    assert await until_optimized(catalog, index, rounds=2) == ["g1", "g1"]


async def test_a_failure_is_tried_again(catalog: Catalog) -> None:
    index = WatchedIndex()
    index.during.append(DependencyUnavailable("the folder is gone"))
    await accept(catalog, a_page())
    await apply_all(catalog)

    assert await until_optimized(catalog, index) == ["g1"]


async def test_what_another_process_left_undone_is_done(catalog: Catalog, tmp_path: Path) -> None:
    await accept(catalog, a_page())
    await apply_all(catalog)
    after_a_restart = await Catalog.open(f"sqlite:///{tmp_path}/catalog.db")

    assert await until_optimized(after_a_restart, WatchedIndex()) == ["g1"]

    await after_a_restart.close()


async def test_a_generation_that_is_gone_is_no_failure(catalog: Catalog) -> None:
    await catalog.collections.delete("quiet", now=5.0)

    await catalog.generations.mark_optimized("g2", 7)

    assert await catalog.generations.not_optimized() == ()
