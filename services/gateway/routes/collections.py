"""`/v1/collections`: read from the catalog, written through ingest."""

from datetime import UTC, datetime
from http import HTTPStatus

from fastapi import APIRouter, Response

from services.gateway.bodies.collections import (
    ActiveGeneration,
    CollectionBody,
    CollectionList,
    CollectionView,
    SettingsBody,
)
from services.gateway.json_route import json_route
from services.gateway.known_collections import KnownCollections
from services.gateway.ports import CatalogReader, Ingester
from services.shared.catalog.collections import Collection
from services.shared.runtime.errors import DependencyUnavailable, NotFound


def collection_routes(
    catalog: CatalogReader, ingester: Ingester, known_collections: KnownCollections, *, max_body_bytes: int
) -> APIRouter:
    """Collections."""
    router = APIRouter(tags=["collections"], route_class=json_route(max_body_bytes))

    @router.post("/v1/collections", status_code=HTTPStatus.CREATED)
    async def create(body: CollectionBody, response: Response) -> CollectionView:
        """Create a collection: 201. The same declaration again changes nothing: 200."""
        created = await ingester.create_collection(body)
        known_collections.forget(body.name)
        if created is None:
            response.status_code = HTTPStatus.OK
        try:
            return _view(await catalog.collection(body.name))
        except (NotFound, DependencyUnavailable):  # deleted since, or not to be seen now: it was made nevertheless
            if created is None:
                raise
            return created

    @router.get("/v1/collections")
    async def list_all() -> CollectionList:
        """All collections by name."""
        return CollectionList(collections=[_view(collection) for collection in await catalog.collections()])

    @router.get("/v1/collections/{collection}")
    async def get(collection: str) -> CollectionView:
        """One collection."""
        return _view(await catalog.collection(collection))

    @router.patch("/v1/collections/{collection}")
    async def replace_settings(collection: str, body: SettingsBody) -> CollectionView:
        """Replace the collection's settings, whole; chunking holds from the next generation on."""
        await ingester.replace_settings(collection, body.settings)
        known_collections.forget(collection)
        return _view(await catalog.collection(collection))

    @router.delete("/v1/collections/{collection}", status_code=HTTPStatus.NO_CONTENT)
    async def delete(collection: str) -> None:
        """Delete a collection with all that belongs to it."""
        await ingester.delete_collection(collection)
        known_collections.forget(collection)

    return router


def _view(collection: Collection) -> CollectionView:
    declaration, active = collection.declaration, collection.active
    return CollectionView(
        name=declaration.name,
        profile=declaration.profile,
        locale=declaration.locale,
        fields={name: kind.value for name, kind in declaration.fields.items()},
        settings=dict(declaration.settings),
        generation=ActiveGeneration(
            id=active.id,
            revision=active.revision,
            documents=active.documents,
            chunks=active.chunks,
            lag=collection.lag,
            optimized=active.is_optimized,
            embedding_model=active.manifest.model,
        ),
        created_at=datetime.fromtimestamp(collection.created_at, UTC).isoformat(timespec="seconds"),
    )
