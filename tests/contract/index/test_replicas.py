"""Three nodes with a replica each: what one missed while it was away is no part of any answer when it is back."""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import numpy as np
import pytest

from services.local.weaviate_nodes import RunningNodes, running_nodes
from services.shared.index.chunk import IndexedChunk
from services.shared.index.filters import Comparison, Op
from services.shared.index.port import Index
from services.shared.index.weaviate_index import WeaviateIndex
from tests.contract.index.examples import FIELDS, GENERATION, a_chunk, found_by_words, ids, windows

pytestmark = [pytest.mark.weaviate, pytest.mark.timeout(300)]

DIMENSIONS = 32
AWAY = 2


@pytest.fixture(scope="module")
def three_nodes(weaviate_server: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningNodes]:
    with running_nodes(3, weaviate_server, tmp_path_factory.mktemp("three nodes")) as running:
        yield running


@pytest.fixture
async def replicated(three_nodes: RunningNodes) -> AsyncIterator[Index]:
    """An index with one generation, of which every node has a replica; all three nodes serve before and after."""
    index = await open_on(three_nodes)
    await index.create_generation(GENERATION, DIMENSIONS, FIELDS)
    yield index
    await index.drop_generation(GENERATION)
    await index.close()


async def open_on(nodes: RunningNodes) -> Index:
    return await WeaviateIndex.open(nodes.addresses, replication_factor=3, api_key=nodes.api_key)


def directions(count: int) -> list[np.ndarray]:
    rows = np.random.default_rng(count).standard_normal((count, DIMENSIONS)).astype(np.float32)
    return list(rows / np.linalg.norm(rows, axis=1, keepdims=True))


def numbered(count: int, **changes: object) -> list[IndexedChunk]:
    return [a_chunk(f"c{number:03d}", vectors=windows(row), **changes) for number, row in enumerate(directions(count))]


async def restart(nodes: RunningNodes, number: int) -> None:
    nodes.start(number)
    await nodes.until_ready()


async def test_what_a_node_missed_is_seen_by_every_read_after_its_return(
    three_nodes: RunningNodes, replicated: Index
) -> None:
    await replicated.upsert(GENERATION, numbered(30, document_id="d", metadata={"unit": "old"}))
    three_nodes.kill(AWAY)
    await replicated.delete(GENERATION, [f"c{number:03d}" for number in range(10)])
    changed = numbered(20, document_id="d", revision=2, text="new", metadata={"unit": "new"})[10:]
    fresh = a_chunk("fresh", document_id="d", revision=2, metadata={"unit": "new"}, vectors=windows(directions(1)[0]))
    await replicated.upsert(GENERATION, [*changed, fresh])
    await restart(three_nodes, AWAY)

    # One that has not met the loss, and so asks the node that was away like any other.
    reader = await open_on(three_nodes)
    new = [f"c{number:03d}" for number in range(10, 20)] + ["fresh"]
    old = [f"c{number:03d}" for number in range(20, 30)]
    of_unit = {unit: Comparison("unit", Op.EQ, (unit,)) for unit in ("old", "new")}
    for _ in range(6):  # each node is asked, as first and as second
        # Sorted, because a replica that was away has other document frequencies.
        assert sorted(await found_by_words(reader, "w:all", filter=of_unit["new"])) == new
        assert sorted(await found_by_words(reader, "w:all", filter=of_unit["old"])) == old
        nearest = await reader.nearest(GENERATION, directions(1)[0], filter=None, limit=100)
        assert sorted(ids(nearest)) == sorted(new + old)
        assert await reader.existing(GENERATION, ["c000", "c010", "c020", "fresh"]) == {"c010", "c020", "fresh"}
        chunks = await reader.document_chunks(GENERATION, "d")
        assert sorted(chunk.chunk_id for chunk in chunks) == sorted(new + old)
        assert {chunk.revision for chunk in chunks if chunk.chunk_id in new} == {2}
        fetched = await reader.fetch(GENERATION, ["c005", "c015"], vectors=False)
        assert [(chunk.chunk_id, chunk.text) for chunk in fetched] == [("c015", "new")]
        assert await reader.count(GENERATION) == len(new + old)
    await reader.close()
