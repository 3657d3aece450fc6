"""The real servers that tests with the markers `weaviate` and `postgres` run on."""

import os
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import psycopg
import pytest
from psycopg import sql
from sqlalchemy import make_url

from services.local.postgres_server import running_server
from services.local.settings import read_settings
from services.local.weaviate_build import ensure_server
from services.local.weaviate_nodes import running_nodes
from services.shared.index.weaviate_node import WeaviateNode, parse_nodes

# What `make test-weaviate` says when no address is given.
START = "start"


@dataclass(frozen=True, slots=True)
class WeaviateAddress:
    """A running Weaviate: its nodes, and the key it asks for, if any."""

    nodes: tuple[WeaviateNode, ...]
    api_key: str | None


@pytest.fixture(scope="session")
def weaviate_server() -> Path:
    """The program of the server, for a test that starts nodes of its own."""
    given = os.environ.get("WEAVIATE_URL")
    if given != START:
        pytest.skip("Weaviate nodes of a test's own are started by `make test-weaviate` without WEAVIATE_URL")
    return ensure_server(read_settings().weaviate_folder)


@pytest.fixture(scope="session")
def weaviate(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[WeaviateAddress]:
    """The one at `WEAVIATE_URL` (its key in `WEAVIATE_API_KEY`), or a node of its own when that says `start`."""
    given = os.environ.get("WEAVIATE_URL")
    if not given:
        pytest.skip("no Weaviate server; `make test-weaviate` builds and starts one")
    if given != START:
        yield WeaviateAddress(parse_nodes(given), os.environ.get("WEAVIATE_API_KEY"))
        return
    server: Path = request.getfixturevalue("weaviate_server")
    with running_nodes(1, server, tmp_path_factory.mktemp("weaviate")) as running:
        yield WeaviateAddress(running.addresses, running.api_key)


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
