"""An index that refuses the chunks of single documents: others are stored, and those are tried until they are taken."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from pathlib import Path

import pytest

from services.shared.index.chunk import IndexedChunk
from services.shared.index.lance_index import LanceIndex
from services.shared.runtime.errors import DependencyUnavailable
from tests.component.ingest.workers_world import Embedder, World, at_work, opened_world
from tests.contract.catalog.examples import accept


class RefusingIndex(LanceIndex):
    """The embedded index; like Weaviate it stores the other chunks of a write, and says how many it refused."""

    refused_document = "bad"
    refusals = 0

    async def upsert(self, generation_id: str, chunks: Sequence[IndexedChunk]) -> None:
        taken = [chunk for chunk in chunks if chunk.document_id != self.refused_document]
        await super().upsert(generation_id, taken)
        if len(taken) < len(chunks):
            self.refusals += 1
            raise DependencyUnavailable(f"The index refused {len(chunks) - len(taken)} of {len(chunks)} chunks.")


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[World]:
    async with opened_world(tmp_path, RefusingIndex) as opened:
        yield opened


async def test_what_stands_beside_a_refused_document_is_stored_and_it_follows_when_it_is_taken(world: World) -> None:
    index = world.index
    assert isinstance(index, RefusingIndex)
    names = [f"good-{number}" for number in range(99)]
    puts = [world.texts.put(f"text of {name}", name) for name in [*names[:50], "bad", *names[50:]]]
    await accept(world.catalog, *puts, job_id="job")

    async with at_work(world.worker("one", Embedder())):
        async with asyncio.timeout(60):
            while index.refusals < 4 or (await world.catalog.jobs.get("job")).done < 99:
                world.now += 5  # soon past any pause before another attempt
                await asyncio.sleep(0.01)
        refused = await world.catalog.jobs.get("job")
        assert (refused.state, refused.done, refused.outcomes.failed) == ("running", 99, 0)
        assert await index.count("g1") == 99
        index.refused_document = "none"
        async with asyncio.timeout(60):
            while await world.catalog.work.waiting():
                world.now += 5
                await asyncio.sleep(0.01)

    taken = await world.catalog.jobs.get("job")
    assert (taken.state, taken.done, taken.outcomes.failed) == ("succeeded", 100, 0)
    assert await index.count("g1") == 100
