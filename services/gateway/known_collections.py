"""Collections and their settings as requests need them: at most a second old, remembered when the catalog fails."""

import time
from collections.abc import Callable
from dataclasses import replace

from prometheus_client import Counter

from services.gateway.ports import CatalogReader, KnownCollection
from services.shared.runtime.errors import DependencyUnavailable, NotFound

# A change of settings is seen within this time; without it every search would begin with a query to the catalog.
FRESH_S = 1.0


class KnownCollections:
    """The collections that requests name; `stale` counts the requests served as the catalog last knew them."""

    def __init__(self, catalog: CatalogReader, stale: Counter, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._catalog = catalog
        self._stale = stale
        self._clock = clock
        self._known: dict[str, tuple[float, KnownCollection]] = {}

    async def get(self, name: str) -> KnownCollection:
        """The collection, at most a second old; the last known one, marked stale, when the catalog does not answer.

        Raises NotFound, and DependencyUnavailable when the catalog does not answer and never knew the collection.
        """
        asked_at, known = self._known.get(name, (0.0, None))
        if known is None or self._clock() - asked_at >= FRESH_S:
            known = await self._read(name, known)
            self._known[name] = (self._clock(), known)
        if known.stale:
            self._stale.inc()
        return known

    def forget(self, name: str) -> None:
        """Read the collection anew at the next request: it was changed or deleted here."""
        self._known.pop(name, None)

    async def _read(self, name: str, before: KnownCollection | None) -> KnownCollection:
        try:
            collection = await self._catalog.collection(name)
        except NotFound:
            self.forget(name)
            raise
        except DependencyUnavailable:
            if before is None:
                raise
            return replace(before, stale=True)
        return KnownCollection(collection, collection.declaration.resolved_settings())
