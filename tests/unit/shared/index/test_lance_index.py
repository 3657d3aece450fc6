"""What only the embedded engine can go wrong in; what it does is in the contract."""

import shutil
from pathlib import Path

import pytest

from services.shared.index.lance_index import LanceIndex
from services.shared.runtime.errors import DependencyUnavailable, NotFound
from tests.contract.index.examples import EAST, a_chunk


async def test_folder_that_cannot_be_made_is_unavailable(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(DependencyUnavailable):
        await LanceIndex.open(tmp_path / "file" / "index")


async def test_unreadable_files_are_unavailable(tmp_path: Path) -> None:
    index = await LanceIndex.open(tmp_path)
    await index.create_generation("g1", 4, {})
    await index.upsert("g1", [a_chunk("c1")])
    for data in tmp_path.glob("g1.lance/data/*"):
        data.write_bytes(b"not a table")
    for call in (
        index.nearest("g1", EAST, filter=None, limit=1),
        index.keyword("g1", ["w:all"], filter=None, limit=1),
        index.fetch("g1", ["c1"], vectors=False),
        index.document_chunks("g1", "doc-c1"),
    ):
        with pytest.raises(DependencyUnavailable):
            await call


async def test_removed_folder_has_no_generation(tmp_path: Path) -> None:
    index = await LanceIndex.open(tmp_path / "index")
    await index.create_generation("g1", 4, {})
    shutil.rmtree(tmp_path / "index")
    with pytest.raises(NotFound):
        await index.count("g1")


async def test_closed_index_is_unavailable(tmp_path: Path) -> None:
    index = await LanceIndex.open(tmp_path)
    await index.close()
    with pytest.raises(DependencyUnavailable):
        await index.generations()
