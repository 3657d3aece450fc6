"""The engines that the index contract is run on. Each address is an index without a generation."""

from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import pytest

from services.shared.index.lance_index import LanceIndex
from services.shared.index.port import Index
from tests.contract.index.examples import FIELDS, GENERATION

OpenIndex = Callable[[], Awaitable[Index]]


@pytest.fixture(params=["lancedb"])
def open_index(request: pytest.FixtureRequest, tmp_path: Path) -> OpenIndex:
    """Opens the same index at each call, as one more process would."""
    return {"lancedb": lambda: LanceIndex.open(tmp_path / "index")}[request.param]


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
