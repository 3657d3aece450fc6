"""Reading and writing at the same time, from one process and from several."""

import asyncio

import pytest

from services.shared.index.chunk import IndexedChunk
from services.shared.index.filters import Comparison, Op
from services.shared.index.port import Index
from services.shared.runtime.errors import NotFound
from tests.contract.index.examples import (
    EAST,
    GENERATION,
    NORTH,
    a_chunk,
    found_by_vector,
    found_by_words,
    towards,
    windows,
)


async def test_write_is_seen_at_once_by_another_reader(index: Index, second_index: Index) -> None:
    assert await found_by_words(second_index, "w:all") == []
    await index.upsert(GENERATION, [a_chunk("c1"), a_chunk("c2")])
    assert await found_by_words(second_index, "w:all") == ["c1", "c2"]
    await index.delete(GENERATION, ["c1"])
    assert await found_by_words(second_index, "w:all") == ["c2"]
    assert await found_by_vector(second_index) == ["c2"]
    await index.optimize(GENERATION)
    assert await second_index.count(GENERATION) == 1


async def test_generation_dropped_and_made_anew_elsewhere_is_seen(index: Index, second_index: Index) -> None:
    await index.upsert(GENERATION, [a_chunk("old")])
    assert await found_by_words(second_index, "w:all") == ["old"]
    await index.drop_generation(GENERATION)
    for call in (second_index.count(GENERATION), found_by_words(second_index, "w:all")):
        with pytest.raises(NotFound):
            await call
    await index.create_generation(GENERATION, 4, {})
    await index.upsert(GENERATION, [a_chunk("new")])
    assert await found_by_words(second_index, "w:all") == ["new"]


async def test_readers_see_whole_chunks_that_never_go_back_while_one_writes(index: Index, second_index: Index) -> None:
    names = [f"c{number}" for number in range(10)]
    last = 15

    def at(revision: int) -> list[IndexedChunk]:
        return [
            a_chunk(
                name,
                revision=revision,
                text=f"r{revision}",
                metadata={"year": revision},
                vectors=windows(towards(1 - number / 100), NORTH),
            )
            for number, name in enumerate(names)
        ]

    await index.upsert(GENERATION, at(0))
    done = asyncio.Event()

    async def write() -> None:
        for revision in range(1, last + 1):
            await index.upsert(GENERATION, at(revision))
            await index.upsert(GENERATION, [a_chunk("passing", analysed="w:passing")])
            await index.delete(GENERATION, ["passing"])
            if revision % 5 == 0:
                await index.optimize(GENERATION)
        done.set()

    async def read(reader: Index) -> int:
        newest, reads = dict.fromkeys(names, 0), 0
        while not done.is_set():
            for hits in (
                await reader.keyword(GENERATION, ["w:all"], filter=None, limit=50),
                [hit for hit in await reader.nearest(GENERATION, EAST, filter=None, limit=50) if hit.score > 0.5],
            ):
                assert [hit.chunk.chunk_id for hit in hits] == names
                for hit in hits:
                    chunk = hit.chunk
                    assert (chunk.text, chunk.metadata) == (f"r{chunk.revision}", {"year": chunk.revision})
                    assert chunk.vectors is not None and len(chunk.vectors) == 2
                    assert chunk.revision >= newest[chunk.chunk_id]
                    newest[chunk.chunk_id] = chunk.revision
            reads += 1
        return reads

    _, own_reads, other_reads = await asyncio.gather(write(), read(index), read(second_index))
    assert own_reads > 1 and other_reads > 1
    assert [chunk.revision for chunk in await second_index.fetch(GENERATION, names, vectors=False)] == [last] * 10


async def test_filtered_hit_meets_the_filter_with_what_it_brings(index: Index, second_index: Index) -> None:
    names = [f"c{number}" for number in range(10)]
    done = asyncio.Event()

    async def write() -> None:
        for year in range(2000, 2030):
            await index.upsert(GENERATION, [a_chunk(name, metadata={"year": year}) for name in names])
        done.set()

    async def read() -> int:
        hits = 0
        while not done.is_set():
            for year in (2000, 2010, 2020, 2029):
                before = Comparison("year", Op.LTE, (year,))
                found = await second_index.keyword(GENERATION, ["w:all"], filter=before, limit=50)
                found += await second_index.nearest(GENERATION, EAST, filter=before, limit=50)
                years = [int(hit.chunk.metadata["year"]) for hit in found]
                assert all(found_year <= year for found_year in years)
                hits += len(years)
        return hits

    await index.upsert(GENERATION, [a_chunk(name, metadata={"year": 1999}) for name in names])
    _, hits = await asyncio.gather(write(), read())
    assert hits > 10


async def test_chunk_whose_vectors_are_replaced_is_the_old_one_the_new_one_or_missing(
    index: Index, second_index: Index
) -> None:
    def at(revision: int) -> IndexedChunk:
        return a_chunk("c1", revision=revision, text=f"r{revision}", vectors=windows(*[EAST] * (1 + revision % 2)))

    await index.upsert(GENERATION, [at(0)])
    done = asyncio.Event()

    async def write() -> None:
        for revision in range(1, 30):
            await index.upsert(GENERATION, [at(revision)])
        done.set()

    async def read() -> int:
        newest = reads = 0
        while not done.is_set():
            for hits in (
                await second_index.keyword(GENERATION, ["w:all"], filter=None, limit=50),
                await second_index.nearest(GENERATION, EAST, filter=None, limit=50),
            ):
                for hit in hits:
                    chunk = hit.chunk
                    assert chunk.text == f"r{chunk.revision}"
                    assert chunk.vectors is not None and len(chunk.vectors) == 1 + chunk.revision % 2
                    assert chunk.revision >= newest
                    newest = chunk.revision
            reads += 1
        return reads

    _, reads = await asyncio.gather(write(), read())
    assert reads > 1
    assert [chunk.revision for chunk in await second_index.fetch(GENERATION, ["c1"], vectors=False)] == [29]


async def test_many_writers_of_one_process_lose_nothing(index: Index, second_index: Index) -> None:
    writers, numbers = range(4), range(12)
    writing = len(writers)

    async def write(writer: int) -> None:
        nonlocal writing
        for number in numbers:
            await index.upsert(GENERATION, [a_chunk(f"{writer}-{number}"), a_chunk("shared", revision=writer)])
            if number % 2:
                await index.delete(GENERATION, [f"{writer}-{number - 1}"])
        writing -= 1

    async def optimize() -> None:
        while writing:
            await index.optimize(GENERATION)

    await asyncio.gather(*map(write, writers), optimize())
    expected = sorted([*(f"{writer}-{number}" for writer in writers for number in numbers if number % 2), "shared"])
    assert sorted(await found_by_words(second_index, "w:all")) == expected
    assert await second_index.count(GENERATION) == len(expected)
