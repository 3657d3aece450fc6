"""`POST /v1/search`."""

from fastapi import APIRouter

from services.gateway.bodies.search import SearchBody, SearchPage
from services.gateway.json_route import json_route
from services.gateway.known_collections import KnownCollections
from services.gateway.ports import Searcher


def search_routes(searcher: Searcher, known_collections: KnownCollections, *, max_body_bytes: int) -> APIRouter:
    """Searches."""
    router = APIRouter(tags=["search"], route_class=json_route(max_body_bytes))

    @router.post("/v1/search")
    async def search(body: SearchBody) -> SearchPage:
        """Ranked hits for a query, or documents like a given one."""
        return await searcher.search(body, await known_collections.get(body.collection))

    return router
