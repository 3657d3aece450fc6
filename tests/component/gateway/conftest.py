from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from tests.component.gateway.house import House, open_house


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def shared_house(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[House]:
    async with open_house(tmp_path_factory.mktemp("house")) as running:
        yield running


@pytest.fixture
def house(shared_house: House) -> House:
    """A house for tests that leave all services as they are; their module runs in one event loop."""
    return shared_house.as_new()


@pytest_asyncio.fixture(loop_scope="module")
async def own_house(tmp_path: Path) -> AsyncIterator[House]:
    """A house for tests that take services away."""
    async with open_house(tmp_path) as running:
        yield running
