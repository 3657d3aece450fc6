"""`/v1/collections/{c}/generations`: listed from the catalog; built, promoted and rolled back through ingest."""

from datetime import UTC, datetime
from http import HTTPStatus

from fastapi import APIRouter

from services.gateway.bodies.generations import (
    BuildBegun,
    BuildBody,
    Chunking,
    GenerationList,
    GenerationView,
    PromoteBody,
    Promotion,
    RolledBack,
)
from services.gateway.json_route import json_route
from services.gateway.known_collections import KnownCollections
from services.gateway.ports import CatalogReader, Ingester
from services.shared.catalog.collections import Collection
from services.shared.catalog.manifest import Generation


def generation_routes(
    catalog: CatalogReader, ingester: Ingester, known_collections: KnownCollections, *, max_body_bytes: int
) -> APIRouter:
    """Generations of a collection."""
    router = APIRouter(tags=["generations"], route_class=json_route(max_body_bytes))

    @router.get("/v1/collections/{collection}/generations")
    async def list_all(collection: str) -> GenerationList:
        """All generations of the collection, newest first."""
        owner = await catalog.collection(collection)
        return GenerationList(generations=[_view(one, owner) for one in await catalog.generations(collection)])

    @router.post("/v1/collections/{collection}/generations", status_code=HTTPStatus.ACCEPTED)
    async def build(collection: str, body: BuildBody) -> BuildBegun:
        """Build a generation beside the one that serves, from the originals: 202."""
        return await ingester.build_generation(collection, body)

    @router.post("/v1/collections/{collection}/generations/{generation_id}/promote")
    async def promote(collection: str, generation_id: str, body: PromoteBody) -> Promotion:
        """Let a ready generation serve, if it finds the judged documents as well; 409 with the figures if not."""
        promotion = await ingester.promote_generation(collection, generation_id, body)
        known_collections.forget(collection)
        return promotion

    @router.post("/v1/collections/{collection}/generations/rollback")
    async def roll_back(collection: str) -> RolledBack:
        """Let the generation serve that served before; 409 when there is none."""
        rolled_back = await ingester.roll_back_generation(collection)
        known_collections.forget(collection)
        return rolled_back

    return router


def _view(generation: Generation, collection: Collection) -> GenerationView:
    manifest = generation.manifest
    return GenerationView(
        id=generation.id,
        state=generation.state.value,
        previous=generation.id == collection.previous_generation_id,
        revision=generation.revision,
        lag=max(0, collection.sequence - generation.applied_sequence),
        documents=generation.documents,
        chunks=generation.chunks,
        embedding_model=manifest.model,
        profile=manifest.profile,
        chunking=Chunking(target=manifest.chunk_target, overlap=manifest.chunk_overlap, minimum=manifest.chunk_minimum),
        created_at=datetime.fromtimestamp(generation.created_at, UTC).isoformat(timespec="seconds"),
    )
