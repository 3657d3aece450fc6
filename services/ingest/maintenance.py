"""Index upkeep: folds fresh rows into the index of generations that changed, in the background."""

import asyncio

import structlog

from services.shared.index.port import Index
from services.shared.runtime.errors import PlumblineError

log = structlog.get_logger()


class Maintenance:
    """Remembers which generations changed and optimizes them every `every_s` seconds."""

    def __init__(self, index: Index, *, every_s: float) -> None:
        self._index = index
        self._every_s = every_s
        self._changed: set[str] = set()

    def note_change(self, generation_id: str) -> None:
        """The generation is worth a look at the next round."""
        self._changed.add(generation_id)

    async def run(self) -> None:
        """Optimize, for ever; a failure is tried again in the next round."""
        while True:
            await asyncio.sleep(self._every_s)
            for generation_id in tuple(self._changed):
                self._changed.discard(generation_id)
                try:
                    await self._index.optimize(generation_id)
                except PlumblineError as error:
                    log.warning("not_optimized", generation_id=generation_id, reason=error.message)
