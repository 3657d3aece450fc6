"""Collecting garbage: revisions that nothing reads any more, originals that no revision names, unused generations.

An original is stored before a revision names it, so one that was stored lately is left alone; and one that seems unused
is first set aside, where whoever needs it after all still finds it, and removed only when that much time has passed
again. A generation that was let go may still answer a query under way, and an index without a generation may be about
to get one: both go when they are found unused in two rounds.
"""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import structlog

from services.shared.blobs.blob_store import PREFIXES, BlobStore
from services.shared.catalog.catalog import Catalog
from services.shared.index.port import Index
from services.shared.runtime.errors import Conflict, NotFound, PlumblineError

log = structlog.get_logger()

_PER_QUERY = 500


@dataclass(frozen=True, slots=True)
class Collected:
    """How many originals a round set aside, put back and removed, and how many generations it dropped."""

    set_aside: int
    put_back: int
    removed: int
    generations: int = 0


class Garbage:
    """Any number of processes may collect at once; `keep_s` is longer than the longest upload takes."""

    def __init__(
        self, catalog: Catalog, blobs: BlobStore, index: Index, *, keep_s: float, clock: Callable[[], float]
    ) -> None:
        self._catalog = catalog
        self._blobs = blobs
        self._index = index
        self._unused_before: set[str] = set()
        self._keep_s = keep_s
        self._clock = clock

    async def run(self) -> None:
        """Collect four times in `keep_s`, for ever; a failure is tried again in the next round."""
        while True:
            await asyncio.sleep(self._keep_s / 4)
            try:
                log.info("garbage_collected", **_fields(await self.collect()))
            except PlumblineError as error:
                log.warning("garbage_not_collected", reason=error.message)

    async def collect(self) -> Collected:
        """One round. Raises DependencyUnavailable when a store does not answer; what was done stands."""
        generations = await self._drop_generations()
        await self._forget_superseded()
        before = datetime.fromtimestamp(self._clock(), UTC) - timedelta(seconds=self._keep_s)
        put_back, removed = await self._decide_on_condemned(before)
        set_aside = 0
        for prefix in PREFIXES:
            for digest in await self._unnamed(await self._blobs.digests(prefix)):
                set_aside += await self._blobs.condemn(digest, before=before)
        return Collected(set_aside, put_back, removed, generations)

    async def _drop_generations(self) -> int:
        indexes = set(await self._index.generations())
        known, unused = await self._catalog.generations.ids()
        unused |= indexes - known
        dropped = unused & self._unused_before
        for generation_id in sorted(dropped):
            if generation_id in known:
                try:
                    await self._catalog.generations.remove(generation_id)
                except (Conflict, NotFound):  # a rollback came between, or another process was first
                    continue
            await self._index.drop_generation(generation_id)
        self._unused_before = unused - dropped
        return len(dropped)

    async def _forget_superseded(self) -> None:
        after: tuple[str, str, int] | None = ("", "", 0)
        while after is not None:
            after = await self._catalog.documents.forget_superseded(after=after, limit=_PER_QUERY)

    async def _decide_on_condemned(self, before: datetime) -> tuple[int, int]:
        digests = await self._blobs.condemned()
        unnamed = await self._unnamed(digests)
        named = [digest for digest in digests if digest not in set(unnamed)]
        for digest in named:
            await self._blobs.restore(digest)
        removed = [await self._blobs.remove_condemned(digest, before=before) for digest in unnamed]
        return len(named), sum(removed)

    async def _unnamed(self, digests: list[str]) -> list[str]:
        unnamed: list[str] = []
        for start in range(0, len(digests), _PER_QUERY):
            some = digests[start : start + _PER_QUERY]
            named = await self._catalog.documents.named_blobs(some)
            unnamed += [digest for digest in some if digest not in named]
        return unnamed


def _fields(collected: Collected) -> dict[str, int]:
    return {
        "set_aside": collected.set_aside,
        "put_back": collected.put_back,
        "removed": collected.removed,
        "generations": collected.generations,
    }
