"""A catalog's schema at any of its revisions, and what the tables hold, as a release of that revision sees them."""

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from alembic import command
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, MetaData, select

from services.shared.catalog.database import Database

T = TypeVar("T")
Rows = Mapping[str, list[dict[str, Any]]]


def config(connection: Connection | None = None) -> Config:
    made = Config()
    made.set_main_option("script_location", "services.shared.catalog:migrations")
    made.attributes["connection"] = connection
    return made


def known_revisions() -> list[str]:
    """Oldest first."""
    return [script.revision for script in ScriptDirectory.from_config(config()).walk_revisions()][::-1]


def go_to(connection: Connection, revision: str) -> None:
    """Bring the schema to `revision`, whichever way that is."""
    revisions = [None, *known_revisions()]
    wanted = {"base": None, "head": revisions[-1]}.get(revision, revision)
    now = MigrationContext.configure(connection).get_current_revision()
    step = command.downgrade if revisions.index(wanted) < revisions.index(now) else command.upgrade
    step(config(connection), revision)


def tables(connection: Connection) -> MetaData:
    """The tables as a release of this revision declares them."""
    declared = MetaData()
    declared.reflect(connection, only=lambda name, _: name != "alembic_version")
    return declared


def rows(connection: Connection, declared: MetaData) -> Rows:
    """All rows of the declared tables in the declared columns."""
    return {
        table.name: [dict(row) for row in connection.execute(select(table).order_by(*table.primary_key)).mappings()]
        for table in declared.sorted_tables
    }


async def within(url: str, do: Callable[[Connection], T]) -> T:
    """What `do` returns, in one transaction on the catalog as it is, without a migration."""
    database = Database.connect(url)
    try:
        async with database.write() as connection:
            return await connection.run_sync(do)
    finally:
        await database.close()
