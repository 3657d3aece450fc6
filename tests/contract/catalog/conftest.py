"""The engines that the catalog's contract is run on. Each address is an empty catalog."""

import os
import uuid
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import psycopg
import pytest
from psycopg import sql
from sqlalchemy import make_url

from services.local.postgres_server import running_server
from services.shared.catalog.catalog import Catalog
from tests.contract.catalog.examples import a_collection


@pytest.fixture(scope="session")
def postgres_url() -> Iterator[str]:
    """A server's maintenance database: that of `POSTGRES_URL`, or of a server of its own when that says `start`."""
    given = os.environ.get("POSTGRES_URL")
    if not given:
        pytest.skip("no PostgreSQL; `make test-postgres` starts one")
    if given != "start":
        yield given
        return
    with running_server() as server:
        yield server.url


@pytest.fixture
def postgres_catalog_url(postgres_url: str) -> Iterator[str]:
    """An empty database, gone after the test with all connections to it."""
    name = f"plumbline_test_{uuid.uuid4().hex}"
    with psycopg.connect(postgres_url, autocommit=True) as connection:
        connection.execute(sql.SQL("CREATE DATABASE {} TEMPLATE template0").format(sql.Identifier(name)))
        yield make_url(postgres_url).set(database=name).render_as_string(hide_password=False)
        connection.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name)))


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
