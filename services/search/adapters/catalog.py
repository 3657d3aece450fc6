"""The catalog's database as search needs it: which generation serves."""

import asyncio
from collections.abc import Sequence

from services.search.domain.term_statistics import TermStatistics
from services.search.ports import Generation
from services.shared.catalog import manifest
from services.shared.catalog.catalog import Catalog
from services.shared.catalog.manifest import GenerationState
from services.shared.runtime.errors import InvalidInput, NotFound

_SERVABLE = (GenerationState.READY, GenerationState.ACTIVE)


class SharedCatalog:
    """Implements `Catalog` on the database at `url`, opened on first use: search may start before its database."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._opening = asyncio.Lock()
        self._catalog: Catalog | None = None

    async def generation(self, collection: str, generation_id: str) -> Generation:
        """See `Catalog.generation`."""
        catalog = await self._open()
        if not generation_id:
            return _served((await catalog.collections.get(collection)).active)
        named = await catalog.generations.get(generation_id)
        if named.collection != collection or named.state not in _SERVABLE:
            raise NotFound(f"'{collection}' has no generation '{generation_id}' to search", field="generation_id")
        return _served(named)

    async def term_statistics(self, generation_id: str, tokens: Sequence[str]) -> TermStatistics | None:
        """See `Catalog.term_statistics`."""
        found = await (await self._open()).terms.look_up(generation_id, tokens)
        return None if found is None else TermStatistics(found.chunks, found.tokens, found.frequencies)

    async def check(self) -> None:
        """See `Catalog.check`. Raises SystemExit for an address that no catalog can have."""
        try:
            catalog = await self._open()
        except InvalidInput as error:
            raise SystemExit(f"refusing to start: {error.field}: {error.message}") from None
        await catalog.collections.list()

    async def close(self) -> None:
        """Close the database if it was opened."""
        if self._catalog is not None:
            await self._catalog.close()

    async def _open(self) -> Catalog:
        async with self._opening:
            if self._catalog is None:
                self._catalog = await Catalog.open(self._url)
            return self._catalog


def _served(generation: manifest.Generation) -> Generation:
    return Generation(
        id=generation.id,
        revision=generation.revision,
        model=generation.manifest.model,
        weights_sha256=generation.manifest.weights_sha256,
        dimensions=generation.manifest.dimensions,
    )
