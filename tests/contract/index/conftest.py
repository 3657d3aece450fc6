"""The engines that the index contract is run on. Each address is an index without a generation."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from pathlib import Path

import pytest

from services.shared.index.lance_index import LanceIndex
from services.shared.index.port import Index
from services.shared.index.weaviate_index import WeaviateIndex
from tests.conftest import WeaviateAddress
from tests.contract.index.examples import FIELDS, GENERATION

OpenIndex = Callable[[], Awaitable[Index]]

ENGINES = ["lancedb", pytest.param("weaviate", marks=pytest.mark.weaviate)]


@pytest.fixture(scope="session")
def empty_weaviate(weaviate: WeaviateAddress) -> WeaviateAddress:
    """A Weaviate that holds no generation, so that these tests may drop all that they find."""
    assert asyncio.run(_generations(weaviate)) == [], "this Weaviate is in use; the contract needs one of its own"
    return weaviate


@pytest.fixture
def cleared_weaviate(empty_weaviate: WeaviateAddress) -> Iterator[WeaviateAddress]:
    """A Weaviate without a generation, before and after."""
    yield empty_weaviate
    asyncio.run(_drop_all(empty_weaviate))


@pytest.fixture(params=ENGINES)
def open_index(request: pytest.FixtureRequest, tmp_path: Path) -> OpenIndex:
    """Opens the same index at each call, as one more process would."""
    if request.param == "lancedb":
        return lambda: LanceIndex.open(tmp_path / "index")
    address: WeaviateAddress = request.getfixturevalue("cleared_weaviate")
    return lambda: WeaviateIndex.open(address.nodes, api_key=address.api_key)


@pytest.fixture
async def index(open_index: OpenIndex) -> AsyncIterator[Index]:
    """An open index with one empty generation, `GENERATION`, of 4 dimensions and the fields `FIELDS`."""
    opened = await open_index()
    await opened.create_generation(GENERATION, 4, FIELDS)
    yield opened
    await opened.close()


@pytest.fixture
async def second_index(index: Index, open_index: OpenIndex) -> AsyncIterator[Index]:
    """The same index as another process opens it."""
    opened = await open_index()
    yield opened
    await opened.close()


async def _generations(address: WeaviateAddress) -> list[str]:
    index = await WeaviateIndex.open(address.nodes, api_key=address.api_key)
    names = await index.generations()
    await index.close()
    return names


async def _drop_all(address: WeaviateAddress) -> None:
    index = await WeaviateIndex.open(address.nodes, api_key=address.api_key)
    for name in await index.generations():
        await index.drop_generation(name)
    await index.close()
