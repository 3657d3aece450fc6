"""The engines that the service is tried on where it matters which one it is."""

import uuid
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from services.search.ports import Generation
from services.search.settings import SearchSettings
from services.shared.index.chunk import IndexedChunk, Matrix
from services.shared.index.opening import open_index
from services.shared.index.port import Index
from services.shared.index.weaviate_node import format_nodes
from tests.component.search.searching import FIELDS, MODEL, VECTORS, WEIGHTS, Searching, searching


@dataclass(frozen=True, slots=True)
class Engine:
    """An open index, and a generation in it that is this test's own."""

    index: Index
    settings: SearchSettings
    generation: Generation

    async def hold(self, *chunks: IndexedChunk) -> None:
        """Write these chunks."""
        await self.index.upsert(self.generation.id, chunks)

    @asynccontextmanager
    async def searched(self, vectors: Mapping[str, Matrix] = VECTORS, **settings: Any) -> AsyncIterator[Searching]:
        """The service over this index as one more process opens it; `vectors` are those of the queries."""
        opened = await open_index(self.settings)
        async with searching(engine=opened, generation=self.generation, vectors=vectors, **settings) as service:
            yield service


@pytest.fixture(params=["lancedb", pytest.param("weaviate", marks=pytest.mark.weaviate)])
def engine_settings(request: pytest.FixtureRequest, tmp_path: Path) -> SearchSettings:
    """Settings that name an index."""
    if request.param == "weaviate":
        address = request.getfixturevalue("weaviate")
        where = {"weaviate_nodes": format_nodes(address.nodes), "weaviate_api_key": address.api_key}
    else:
        where = {"index_folder": str(tmp_path / "index")}
    return SearchSettings(port=0, embedding_target="-", ranking_target="-", catalog_url="-", **where)


@pytest.fixture
async def engine(engine_settings: SearchSettings) -> AsyncIterator[Engine]:
    """An index with an empty generation of its own."""
    index = await open_index(engine_settings)
    generation = Generation(uuid.uuid4().hex, revision=7, model=MODEL, weights_sha256=WEIGHTS, dimensions=4)
    await index.create_generation(generation.id, generation.dimensions, FIELDS)
    yield Engine(index, engine_settings, generation)
    await index.drop_generation(generation.id)
    await index.close()
