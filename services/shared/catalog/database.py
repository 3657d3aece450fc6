"""How the catalog's database is opened, migrated, read and written, and what its failures become.

All that differs between the engines stands in this file; the statements of the other files serve each of them.
"""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Self

from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, event, make_url
from sqlalchemy.engine.interfaces import DBAPIConnection
from sqlalchemy.exc import (
    ArgumentError,
    DataError,
    DBAPIError,
    IntegrityError,
    ProgrammingError,
    SQLAlchemyError,
    StatementError,
)
from sqlalchemy.exc import TimeoutError as PoolTimeout
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine, create_async_engine

from services.shared.runtime.errors import DependencyUnavailable, Internal, InvalidInput

BUSY_TIMEOUT_S = 5.0  # the longest wait for another process's write; its transactions take milliseconds
_MIGRATIONS = "services.shared.catalog:migrations"
_WRITES = "plumbline_writes"


class Database:
    """Transactions on one catalog. Everything is durable when `write` returns."""

    def __init__(self, engine: AsyncEngine) -> None:
        self._reads = engine
        self._writes = engine.execution_options(**{_WRITES: True})
        # SQLite has one writer; waiting here is fair and free, in the engine it is polling.
        self._turn = asyncio.Lock()

    @classmethod
    async def open(cls, url: str) -> Self:
        """The database at `url` (`sqlite:////absolute/file.db`), created and migrated to the newest schema.

        Raises InvalidInput for an address of another kind, DependencyUnavailable when it cannot be opened.
        """
        database = cls(_sqlite_engine(url))
        try:
            async with database.write() as connection:
                await connection.run_sync(migrate)
        except BaseException:
            await database.close()
            raise
        return database

    async def close(self) -> None:
        """Close all connections."""
        await self._reads.dispose()

    @asynccontextmanager
    async def read(self) -> AsyncIterator[AsyncConnection]:
        """A transaction that sees one state of the catalog, however many statements it takes."""
        with _mapped_errors():
            async with self._reads.begin() as connection:
                yield connection

    @asynccontextmanager
    async def write(self) -> AsyncIterator[AsyncConnection]:
        """A transaction that is the only writer from its beginning; an exception leaves nothing behind."""
        with _mapped_errors():
            async with self._turn, self._writes.begin() as connection:
                yield connection


def _sqlite_engine(url: str) -> AsyncEngine:
    try:
        address = make_url(url)
    except ArgumentError:
        address = make_url("unknown://")
    if address.drivername != "sqlite" or address.database in (None, "", ":memory:"):
        raise InvalidInput("the catalog's address has the form sqlite:////folder/file.db", field="catalog_url")
    engine = create_async_engine(
        address.set(drivername="sqlite+aiosqlite"),
        # The driver would begin transactions late and by itself; `_begin` does it instead.
        connect_args={"isolation_level": None, "timeout": BUSY_TIMEOUT_S},
        hide_parameters=True,  # errors are logged, and parameters hold document text
    )
    event.listen(engine.sync_engine, "connect", _configure)
    event.listen(engine.sync_engine, "begin", _begin)
    return engine


def _configure(connection: DBAPIConnection, _record: object) -> None:
    cursor = connection.cursor()
    for pragma in (
        "journal_mode = WAL",  # readers go on while one process writes
        "synchronous = FULL",  # accepted means durable: the log is synced with every commit
        "foreign_keys = ON",
    ):
        cursor.execute(f"PRAGMA {pragma}")
    cursor.close()


def _begin(connection: Connection) -> None:
    # A write that begins as a read fails at once when another writer came between; so it takes the lock first.
    writes = connection.get_execution_options().get(_WRITES)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")


def migrate(connection: Connection) -> None:
    """Bring the schema to the newest revision; one that is newer than this code knows is left as it is.

    Runs inside the caller's transaction: processes that start together take turns, and a failure changes nothing.
    """
    config = Config()
    config.set_main_option("script_location", _MIGRATIONS)
    config.attributes["connection"] = connection
    current = MigrationContext.configure(connection).get_current_revision()
    known = {script.revision for script in ScriptDirectory.from_config(config).walk_revisions()}
    if current is None or current in known:
        command.upgrade(config, "head")


@contextmanager
def _mapped_errors() -> Iterator[None]:
    """The driver's errors as ours; their text names tables and causes, never values."""
    try:
        yield
    except (DataError, IntegrityError, ProgrammingError) as error:
        raise Internal(f"the catalog refused a statement: {error.orig}") from error
    except DBAPIError as error:
        raise DependencyUnavailable(f"the catalog does not answer: {error.orig}", retry_after_s=1) from error
    except PoolTimeout as error:
        raise DependencyUnavailable("the catalog does not answer: all connections are busy", retry_after_s=1) from error
    except StatementError as error:
        raise Internal(f"the catalog could not form a statement: {error.orig}") from error
    except SQLAlchemyError as error:
        raise Internal(f"the catalog failed: {type(error).__name__}") from error
