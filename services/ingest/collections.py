"""Creating and deleting collections: the index is made before the catalog names it, and dropped after it forgot it."""

import uuid
from collections.abc import Callable

import structlog

from services.ingest.manifests import manifest_of
from services.ingest.ports import Embedder
from services.shared.catalog.catalog import Catalog
from services.shared.catalog.collections import Collection
from services.shared.catalog.declaration import Declaration
from services.shared.catalog.manifest import Manifest
from services.shared.catalog.profiles import Overrides
from services.shared.index.port import Index
from services.shared.runtime.errors import NotFound, PlumblineError

log = structlog.get_logger()


class CollectionKeeper:
    """Collections with the generations that they begin with."""

    def __init__(
        self, catalog: Catalog, index: Index, embedder: Embedder, *, model: str, clock: Callable[[], float]
    ) -> None:
        self._catalog = catalog
        self._index = index
        self._embedder = embedder
        self._model = model
        self._clock = clock

    async def create(self, declaration: Declaration) -> tuple[Collection, bool]:
        """The collection, and whether it is new. Raises AlreadyExists when it was declared otherwise."""
        if await self._exists(declaration.name):
            # Answered by the catalog alone, so that it works while embedding is down.
            generation_id, manifest = "", (await self._catalog.collections.get(declaration.name)).active.manifest
            return await self._declare(declaration, generation_id, manifest), False
        manifest = await self._manifest(declaration)
        generation_id = str(uuid.uuid4())
        await self._index.create_generation(
            generation_id, manifest.dimensions, declaration.fields, precision=manifest.precision
        )
        collection = await self._declare(declaration, generation_id, manifest)
        if collection.active.id != generation_id:  # somebody else was first
            await self._drop(generation_id)
        return collection, collection.active.id == generation_id

    async def replace_settings(self, name: str, settings: Overrides) -> Collection:
        """The collection with these overrides only. Raises NotFound, InvalidInput."""
        return await self._catalog.collections.replace_settings(name, settings)

    async def delete(self, name: str) -> None:
        """The collection is gone when this returns. Raises NotFound."""
        for generation_id in await self._catalog.collections.delete(name, now=self._clock()):
            await self._drop(generation_id)

    async def _exists(self, name: str) -> bool:
        try:
            await self._catalog.collections.get(name)
        except NotFound:
            return False
        return True

    async def _declare(self, declaration: Declaration, generation_id: str, manifest: Manifest) -> Collection:
        return await self._catalog.collections.create(
            declaration, generation_id=generation_id, manifest=manifest, now=self._clock()
        )

    async def _manifest(self, declaration: Declaration) -> Manifest:
        model = await self._embedder.model(self._model)
        return manifest_of(model, declaration.profile, declaration.resolved_settings())

    async def _drop(self, generation_id: str) -> None:
        """Drop what no collection names any more; rows that stay are never served, so a failure is only noted."""
        try:
            await self._index.drop_generation(generation_id)
        except PlumblineError as error:
            log.warning("generation_not_dropped", generation_id=generation_id, reason=error.message)
