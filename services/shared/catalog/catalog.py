"""The catalog: what exists, what was accepted and what of it is applied. Ingest and gateway write, search reads."""

from typing import Self

from services.shared.catalog.builds import Builds
from services.shared.catalog.collections import Collections
from services.shared.catalog.database import Database
from services.shared.catalog.dead_letters import DeadLetters
from services.shared.catalog.documents import Documents
from services.shared.catalog.generations import Generations
from services.shared.catalog.inventory import Inventory
from services.shared.catalog.jobs import Jobs
from services.shared.catalog.judgments import Judgments
from services.shared.catalog.repairs import Repairs
from services.shared.catalog.term_statistics import Terms
from services.shared.catalog.work import WorkQueue


class Catalog:
    """One catalog, open. Each method of its parts is one transaction.

    Times are arguments, in seconds since the epoch, and so are the ids of new things. Every method raises
    DependencyUnavailable when the database does not answer; what it was to write is then not written.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self.builds = Builds(database)
        self.collections = Collections(database)
        self.dead_letters = DeadLetters(database)
        self.documents = Documents(database)
        self.generations = Generations(database)
        self.inventory = Inventory(database)
        self.jobs = Jobs(database)
        self.judgments = Judgments(database)
        self.repairs = Repairs(database)
        self.terms = Terms(database)
        self.work = WorkQueue(database)

    @classmethod
    async def open(cls, url: str) -> Self:
        """The catalog at `url`, as `Database.open` takes it."""
        return cls(await Database.open(url))

    async def close(self) -> None:
        """Close all connections; the catalog is of no use afterwards."""
        await self._database.close()
