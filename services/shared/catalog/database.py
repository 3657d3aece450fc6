"""How the catalog's database is opened, migrated, read and written, and what its failures become.

All that differs between the engines stands in this file; the statements of the other files serve each of them.
"""

import asyncio
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager, nullcontext
from typing import Any, Self

from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from psycopg.abc import Buffer
from psycopg.types.string import StrDumper
from sqlalchemy import URL, Connection, Table, event, make_url, text
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.engine.interfaces import DBAPIConnection, ExceptionContext
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
# The rest is for PostgreSQL. A server takes 100 connections unless it is told otherwise.
POOL_CONNECTIONS = 8
CONNECT_TIMEOUT_S = 5
# The longest that is waited for a server that accepts and does not answer. Deleting a collection takes the longest.
TRANSACTION_TIMEOUT_S = 60.0
# After so long the server ends the transaction of a process that stands still, and lets go of what it had locked.
_IDLE_IN_TRANSACTION_S = 30
_UNREACHABLE_AFTER_S = 10  # a server's machine that went away without a word
_MIGRATION_LOCK = 0x706C756D  # any number that nobody else takes in this database
_MIGRATIONS = "services.shared.catalog:migrations"
_WRITES = "plumbline_writes"


class Database:
    """Transactions on one catalog. Everything is durable when `write` returns."""

    def __init__(self, engine: AsyncEngine) -> None:
        self._engine = engine
        self._writes = engine.execution_options(**{_WRITES: True})
        self._turn: AbstractAsyncContextManager[Any]
        self._limit_s: float | None
        if engine.dialect.name == "sqlite":
            self._reads = engine
            # SQLite has one writer; waiting here is fair and free, in the engine it is polling.
            self._turn = asyncio.Lock()
            self._limit_s = None  # its statements run in a thread, which cannot be interrupted
        else:
            self._reads = engine.execution_options(isolation_level="REPEATABLE READ", postgresql_readonly=True)
            self._turn = nullcontext()  # there the rows that a transaction locks make others wait
            self._limit_s = TRANSACTION_TIMEOUT_S

    @classmethod
    def connect(cls, url: str) -> Self:
        """The database at `url` as it is, whatever its schema; as for `open`, but nothing is asked of it yet."""
        return cls(_engine(url))

    @classmethod
    async def open(cls, url: str) -> Self:
        """The database at `url`, created where it is a file, and migrated to the newest schema.

        `url` is `sqlite:////absolute/file.db` or `postgresql://user:password@host:port/database`. Raises InvalidInput
        for an address of another kind, DependencyUnavailable when it cannot be opened.
        """
        database = cls.connect(url)
        try:
            with _mapped_errors():
                async with database._turn, database._writes.begin() as connection:
                    await connection.run_sync(migrate)
        except BaseException:
            await database.close()
            raise
        return database

    async def close(self) -> None:
        """Close all connections."""
        await self._engine.dispose()

    @asynccontextmanager
    async def read(self) -> AsyncIterator[AsyncConnection]:
        """A transaction that sees one state of the catalog, however many statements it takes."""
        with _mapped_errors():
            async with asyncio.timeout(self._limit_s), self._reads.begin() as connection:
                yield connection

    @asynccontextmanager
    async def write(self) -> AsyncIterator[AsyncConnection]:
        """A transaction that is applied whole, or leaves nothing behind when an exception ends it.

        On SQLite it is the only writer from its beginning. On PostgreSQL others write beside it, so it first locks the
        row of the collection whose state it reads (`lock_collection`); what it reads after that stands until its end.
        Locks are taken in the order collection, work items, generations, jobs, so that no two wait for each other.
        """
        with _mapped_errors():
            async with asyncio.timeout(self._limit_s), self._turn, self._writes.begin() as connection:
                yield connection


async def insert_if_absent(connection: AsyncConnection, table: Table, values: Mapping[str, Any]) -> bool:
    """Whether the row is new; one with its key stays as it is, also when another process inserts it at this moment."""
    insert = sqlite.insert if connection.dialect.name == "sqlite" else postgresql.insert
    statement = insert(table).values(**values).on_conflict_do_nothing().returning(*table.primary_key)
    return (await connection.execute(statement)).first() is not None


def _engine(url: str) -> AsyncEngine:
    try:
        address = make_url(url)
    except ArgumentError:
        address = make_url("unknown://")
    if address.drivername == "sqlite" and address.database not in (None, "", ":memory:"):
        return _sqlite_engine(address)
    if address.drivername == "postgresql" and address.database:
        return _postgres_engine(address)
    raise InvalidInput(
        "the catalog's address has the form sqlite:////folder/file.db or postgresql://user:password@host:port/database",
        field="catalog_url",
    )


def _sqlite_engine(address: URL) -> AsyncEngine:
    engine = create_async_engine(
        address.set(drivername="sqlite+aiosqlite"),
        # The driver would begin transactions late and by itself; `_begin` does it instead.
        connect_args={"isolation_level": None, "timeout": BUSY_TIMEOUT_S},
        hide_parameters=True,  # errors are logged, and parameters hold document text
    )
    event.listen(engine.sync_engine, "connect", _configure)
    event.listen(engine.sync_engine, "begin", _begin)
    event.listen(engine.sync_engine, "handle_error", _keep_when_cancelled)
    return engine


def _postgres_engine(address: URL) -> AsyncEngine:
    limits = (
        f"-c lock_timeout={BUSY_TIMEOUT_S}s -c idle_in_transaction_session_timeout={_IDLE_IN_TRANSACTION_S}s"
        " -c synchronous_commit=on"  # accepted means durable, whatever the server's own default is
    )
    given = address.query.get("options", "")
    engine = create_async_engine(
        address.set(drivername="postgresql+psycopg").difference_update_query(["options"]),
        connect_args={
            "connect_timeout": CONNECT_TIMEOUT_S,
            "options": f"{given} {limits}",
            "keepalives_idle": _UNREACHABLE_AFTER_S,
            "tcp_user_timeout": _UNREACHABLE_AFTER_S * 1000,
        },
        use_native_hstore=False,  # not used, and asking for it is a statement more
        pool_size=POOL_CONNECTIONS,
        max_overflow=0,
        pool_timeout=BUSY_TIMEOUT_S,
        pool_pre_ping=True,  # so that a server's restart costs the callers after it nothing
        hide_parameters=True,
    )
    event.listen(engine.sync_engine, "connect", _leave_out_nul)
    return engine


class _WithoutNul(StrDumper):
    """Text without U+0000, which PostgreSQL's text cannot hold and a title in a damaged file may."""

    def dump(self, obj: str) -> Buffer | None:
        return super().dump(obj.replace("\0", ""))


def _leave_out_nul(connection: DBAPIConnection, _record: object) -> None:
    connection.adapters.register_dumper(str, _WithoutNul)


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


def _keep_when_cancelled(context: ExceptionContext) -> None:
    """Keep the connection of a caller who went away: the statement ends in its thread, and the rollback follows it.

    SQLAlchemy would close it instead, and SQLite keeps a closed connection with its transaction for as long as one of
    its statements is referred to: nobody else could write meanwhile.
    """
    if isinstance(context.original_exception, asyncio.CancelledError):
        context.is_disconnect = False


def migrate(connection: Connection) -> None:
    """Bring the schema to the newest revision; one that is newer than this code knows is left as it is.

    Runs inside the caller's transaction: processes that start together take turns, and a failure changes nothing.
    A table that others use is waited for as long as for any lock.
    """
    if connection.dialect.name == "postgresql":
        # Another process may be at a long migration.
        connection.execute(text("SET LOCAL lock_timeout = 0"))
        connection.execute(text(f"SELECT pg_advisory_xact_lock({_MIGRATION_LOCK})"))
        connection.execute(text(f"SET LOCAL lock_timeout = '{BUSY_TIMEOUT_S}s'"))
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
        raise Internal(f"the catalog refused a statement: {_cause(error)}") from error
    except DBAPIError as error:
        raise DependencyUnavailable(f"the catalog does not answer: {_cause(error)}", retry_after_s=1) from error
    except PoolTimeout as error:
        raise DependencyUnavailable("the catalog does not answer: all connections are busy", retry_after_s=1) from error
    except TimeoutError as error:
        raise DependencyUnavailable("the catalog does not answer in time", retry_after_s=1) from error
    except StatementError as error:
        raise Internal(f"the catalog could not form a statement: {error.orig}") from error
    except SQLAlchemyError as error:
        raise Internal(f"the catalog failed: {type(error).__name__}") from error


def _cause(error: DBAPIError) -> str:
    """The driver's own sentence, and from now on all that it says wherever it is shown, in the log as well.

    PostgreSQL's details quote values, in the lines after it.
    """
    for one in (error, error.orig):
        if one is not None:
            one.args = (str(one.args[0] if one.args else one).partition("\n")[0], *one.args[1:])
    return str(error.orig)
