"""Walking through everything that a generation holds."""

import pytest

from services.shared.index.chunk import ChunkKey
from services.shared.index.port import Index
from services.shared.runtime.errors import NotFound
from tests.contract.index.examples import GENERATION, a_chunk


async def scanned(index: Index) -> list[ChunkKey]:
    return [key async for some in index.scan(GENERATION) for key in some]


async def test_empty_generation_has_no_keys(index: Index) -> None:
    assert await scanned(index) == []


async def test_every_chunk_is_told_once_with_its_document_and_revision(index: Index) -> None:
    chunks = [a_chunk(f"c{number}", document_id=f"Dok {number % 7}", revision=number) for number in range(2_345)]
    await index.upsert(GENERATION, chunks)
    await index.upsert(GENERATION, chunks[:10])
    await index.delete(GENERATION, ["c2344"])

    keys = await scanned(index)

    assert sorted(keys, key=lambda key: key.revision) == [
        ChunkKey(f"c{number}", f"Dok {number % 7}", number) for number in range(2_344)
    ]


async def test_generation_that_is_not_there_is_not_found(index: Index) -> None:
    with pytest.raises(NotFound):
        _ = [some async for some in index.scan("other")]
