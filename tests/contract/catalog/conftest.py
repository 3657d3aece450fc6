"""The engines that the catalog's contract is run on. Each address is an empty catalog."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from services.shared.catalog.catalog import Catalog
from tests.contract.catalog.examples import a_collection


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.postgres)])
def catalog_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path}/catalog.db"
    url: str = request.getfixturevalue("postgres_catalog_url")
    return url


@pytest.fixture
async def catalog(catalog_url: str) -> AsyncIterator[Catalog]:
    """An open catalog with the empty collection `pages`, served by generation `g1`."""
    opened = await Catalog.open(catalog_url)
    await a_collection(opened, "pages", generation_id="g1")
    yield opened
    await opened.close()


@pytest.fixture
async def second_catalog(catalog: Catalog, catalog_url: str) -> AsyncIterator[Catalog]:
    """The same catalog as another process opens it."""
    opened = await Catalog.open(catalog_url)
    yield opened
    await opened.close()
