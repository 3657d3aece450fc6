"""The search service as the gateway's port."""

from services.gateway import convert
from services.gateway.bodies.documents import ChunkView
from services.gateway.bodies.search import SearchBody, SearchPage
from services.gateway.ports import KnownCollection
from services.shared.clients.search import SearchClient
from services.shared.runtime.call import current_call
from services.shared.runtime.errors import PlumblineError


class SearchService:
    """Searches over gRPC."""

    def __init__(self, client: SearchClient, *, timeout_s: float) -> None:
        self._client = client
        self._timeout_s = timeout_s

    async def search(self, body: SearchBody, known: KnownCollection) -> SearchPage:
        """See `Searcher`."""
        try:
            reply = await self._client.search(convert.search_to_proto(body, known), timeout_s=self._timeout_s)
        except PlumblineError as error:
            error.field = convert.field_of_search(error.field)
            raise
        call = current_call()
        return convert.page_from_proto(reply, request_id=call.request_id if call else "", stale=known.stale)

    async def chunks(self, collection: str, document_id: str) -> list[ChunkView]:
        """See `Searcher`."""
        request = convert.chunks_to_proto(collection, document_id)
        return convert.chunks_from_proto(await self._client.list_chunks(request, timeout_s=self._timeout_s))
