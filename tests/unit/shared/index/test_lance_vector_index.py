import asyncio
import shutil
from collections.abc import AsyncIterator
from pathlib import Path

import numpy as np
import pytest

from services.shared.index.chunk import IndexedChunk, Matrix, Vector
from services.shared.index.fields import FieldType
from services.shared.index.filters import Comparison, Filter, Op
from services.shared.index.lance_index import LanceIndex
from services.shared.index.lance_vector_index import EXACT_BELOW, vector_index
from tests.contract.index.examples import GENERATION, a_chunk, ids

DIMENSIONS = 24
ROWS = EXACT_BELOW + 400
FIELDS = {"place": FieldType.INTEGER, "topic": FieldType.KEYWORD}
TOPICS = 100


def rows_of(count: int, seed: int) -> tuple[Matrix, list[int]]:
    """Unit vectors around `TOPICS` centres, that are the same for every seed, with the topic of each."""
    centres = np.random.default_rng(0).standard_normal((TOPICS, DIMENSIONS))
    rng = np.random.default_rng(seed)
    topics = rng.integers(0, TOPICS, count)
    drawn = centres[topics] + rng.standard_normal((count, DIMENSIONS))
    unit = (drawn / np.linalg.norm(drawn, axis=1, keepdims=True)).astype(np.float32)
    return unit, [int(topic) for topic in topics]


VECTORS, OF_TOPIC = rows_of(ROWS, seed=1)
QUERIES, _ = rows_of(25, seed=2)
PLACES = np.random.default_rng(3).permutation(ROWS)


def chunk_at(row: int) -> IndexedChunk:
    """Every fifth chunk has a second window, which looks the other way."""
    second = VECTORS[row : row + 1] * np.float32(-1)
    vectors = VECTORS[row : row + 1] if row % 5 else np.concatenate([VECTORS[row : row + 1], second])
    metadata = {"place": int(PLACES[row]), "topic": f"topic {OF_TOPIC[row]}"}
    return a_chunk(f"c{row:05d}", metadata=metadata, vectors=vectors)


def true_scores(query: Vector) -> Vector:
    scores = VECTORS @ query
    scores[::5] = np.abs(scores[::5])
    return np.asarray(scores)


async def fill(folder: Path) -> None:
    index = await LanceIndex.open(folder)
    await index.create_generation(GENERATION, DIMENSIONS, FIELDS)
    for start in range(0, ROWS, 5_100):
        await index.upsert(GENERATION, [chunk_at(row) for row in range(start, min(start + 5_100, ROWS))])
    await index.optimize(GENERATION)
    await index.close()


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with `ROWS` chunks that have been optimized; not to be written to."""
    folder = tmp_path_factory.mktemp("filled")
    asyncio.run(fill(folder))
    return folder


@pytest.fixture
def folder(filled: Path, tmp_path: Path) -> Path:
    """A copy of it for one test."""
    return Path(shutil.copytree(filled, tmp_path / "index"))


@pytest.fixture
async def index(filled: Path) -> AsyncIterator[LanceIndex]:
    opened = await LanceIndex.open(filled)
    yield opened
    await opened.close()


@pytest.fixture
async def own_index(folder: Path) -> AsyncIterator[LanceIndex]:
    opened = await LanceIndex.open(folder)
    yield opened
    await opened.close()


async def has_vector_index(index: LanceIndex) -> bool:
    return await vector_index(await index._table(GENERATION)) is not None


async def recall(index: LanceIndex, *, limit: int, filter: Filter | None = None, among: Vector | None = None) -> float:
    """The share of the nearest `limit` chunks that are found, over all queries."""
    found, wanted = 0, 0
    for query in QUERIES:
        scores = true_scores(query) if among is None else np.where(among, true_scores(query), -2)
        nearest = [f"c{row:05d}" for row in np.argsort(-scores)[:limit] if scores[row] > -2]
        hits = await index.nearest(GENERATION, query, filter=filter, limit=limit, vectors=False)
        found, wanted = found + len({*ids(hits)} & {*nearest}), wanted + len(nearest)
    return found / wanted


async def test_an_approximate_search_finds_nearly_all_of_the_nearest_with_their_cosines(index: LanceIndex) -> None:
    assert await has_vector_index(index)
    assert await recall(index, limit=10) >= 0.97
    assert await recall(index, limit=100) >= 0.95
    hits = await index.nearest(GENERATION, QUERIES[0], filter=None, limit=100)
    scores = true_scores(QUERIES[0])
    assert [hit.score for hit in hits] == pytest.approx([scores[int(key[1:])] for key in ids(hits)], abs=1e-5)
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)


async def test_more_effort_finds_more(filled: Path) -> None:
    found = []
    for effort in (4, 32, 256):
        index = await LanceIndex.open(filled, effort=effort)
        found.append(await recall(index, limit=100))
        await index.close()
    assert found[0] < found[1] < found[2]
    assert found[2] >= 0.99


@pytest.mark.parametrize("share", [0.001, 0.01, 0.08, 0.4, 1.0])
async def test_a_filter_that_leaves_any_share_finds_as_much(index: LanceIndex, share: float) -> None:
    matching = round(share * ROWS)
    filter = Comparison("place", Op.LT, (matching,))
    assert await recall(index, limit=100, filter=filter, among=np.less(PLACES, matching)) >= 0.95


async def test_a_filter_on_what_lies_far_from_the_query_finds_as_much(index: LanceIndex) -> None:
    filter = Comparison("topic", Op.IN, ("topic 0", "topic 1"))
    assert await recall(index, limit=100, filter=filter, among=np.isin(OF_TOPIC, [0, 1])) >= 0.95


async def test_a_filter_that_leaves_nothing_finds_nothing(index: LanceIndex) -> None:
    nowhere = Comparison("place", Op.LT, (0,))
    assert await index.nearest(GENERATION, QUERIES[0], filter=nowhere, limit=10) == []


async def test_fresh_and_changed_chunks_are_found_before_they_are_folded_in(own_index: LanceIndex) -> None:
    query = QUERIES[0]
    [first] = await own_index.nearest(GENERATION, query, filter=None, limit=1)
    fresh = a_chunk("fresh", vectors=query[None, :])
    moved = a_chunk(first.chunk.chunk_id, vectors=-query[None, :])
    await own_index.upsert(GENERATION, [fresh, moved])
    hits = await own_index.nearest(GENERATION, query, filter=None, limit=100)
    assert (hits[0].chunk.chunk_id, hits[0].score) == ("fresh", pytest.approx(1, abs=1e-5))
    assert first.chunk.chunk_id not in ids(hits)
    await own_index.delete(GENERATION, ["fresh"])
    assert "fresh" not in ids(await own_index.nearest(GENERATION, query, filter=None, limit=100))


async def test_equal_scores_come_by_chunk_id_through_the_index_too(own_index: LanceIndex) -> None:
    query = QUERIES[0]
    await own_index.upsert(GENERATION, [a_chunk(f"same {place:03d}", vectors=query[None, :]) for place in range(300)])
    await own_index.optimize(GENERATION)
    hits = await own_index.nearest(GENERATION, query, filter=None, limit=7)
    assert ids(hits) == [f"same {place:03d}" for place in range(7)]


async def test_below_the_bound_a_search_is_exact_again(own_index: LanceIndex) -> None:
    await own_index.delete(GENERATION, [f"c{row:05d}" for row in range(401)])
    among = np.arange(ROWS) > 400
    assert await recall(own_index, limit=100, among=among) == 1


async def test_small_generation_has_no_vector_index(tmp_path: Path) -> None:
    index = await LanceIndex.open(tmp_path)
    await index.create_generation(GENERATION, DIMENSIONS, FIELDS)
    await index.upsert(GENERATION, [chunk_at(row) for row in range(300)])
    await index.optimize(GENERATION)
    assert not await has_vector_index(index)
    await index.close()


async def test_few_changes_of_a_large_generation_wait_for_more_before_they_are_folded_in(own_index: LanceIndex) -> None:
    async def unindexed() -> list[int | None]:
        table = await own_index._table(GENERATION)
        return [index.num_unindexed_rows for index in await table.list_indices()]

    await own_index.upsert(GENERATION, [chunk_at(row) for row in range(20)])
    await own_index.optimize(GENERATION)
    assert await unindexed() == [20, 20]
    await own_index.upsert(GENERATION, [chunk_at(row) for row in range(20, 120)])
    await own_index.optimize(GENERATION)
    assert await unindexed() == [0, 0]


async def test_writes_go_on_while_a_generation_is_optimized(own_index: LanceIndex) -> None:
    await own_index.upsert(GENERATION, [chunk_at(row) for row in range(500, 700)])
    optimizing = asyncio.create_task(own_index.optimize(GENERATION))
    await asyncio.sleep(0)
    written = 0
    while not optimizing.done():
        beside = a_chunk(f"beside {written}", vectors=QUERIES[:1])
        await own_index.upsert(GENERATION, [beside, chunk_at(written)])
        await own_index.delete(GENERATION, [f"beside {written - 1}"])
        written += 1
    await optimizing
    assert written > 1  # a write that had to wait for the end would be the only one
    assert await own_index.count(GENERATION) == ROWS + 1
    assert await own_index.existing(GENERATION, [f"beside {written - 1}"]) == {f"beside {written - 1}"}
