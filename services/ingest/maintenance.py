"""Index upkeep: folds fresh rows into the index of generations that changed, in the background."""

import asyncio

import structlog

from services.shared.catalog.catalog import Catalog
from services.shared.catalog.manifest import Generation
from services.shared.index.port import Index
from services.shared.runtime.errors import PlumblineError

log = structlog.get_logger()


class Maintenance:
    """Every `every_s` seconds optimizes the generations that changed, whoever changed them, and says so in the catalog.

    Between a change and that, the engine scores words with the frequencies of before.
    """

    def __init__(self, catalog: Catalog, index: Index, *, every_s: float) -> None:
        self._catalog = catalog
        self._index = index
        self._every_s = every_s

    async def run(self) -> None:
        """Optimize, for ever; a failure is tried again in the next round."""
        while True:
            await asyncio.sleep(self._every_s)
            try:
                due = await self._catalog.generations.not_optimized()
            except PlumblineError as error:
                log.warning("upkeep_put_off", reason=error.message)
                continue
            for generation in due:
                await self._optimize(generation)

    async def _optimize(self, generation: Generation) -> None:
        try:
            # What is applied from here on raises the revision, and is a matter of the next round.
            await self._index.optimize(generation.id)
            await self._catalog.generations.mark_optimized(generation.id, generation.revision)
        except PlumblineError as error:
            log.warning("not_optimized", generation_id=generation.id, reason=error.message)
