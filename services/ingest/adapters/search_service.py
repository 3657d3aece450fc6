"""The search service as ingest needs it: which documents a generation finds for a judged query."""

from services.ingest import convert
from services.ingest.ports import Found
from services.shared.catalog.collections import Collection
from services.shared.catalog.judgments import Judgment
from services.shared.clients.search import SearchClient


class SearchService:
    """Implements `Searcher` over gRPC."""

    def __init__(self, client: SearchClient, *, timeout_s: float) -> None:
        self._client = client
        self._timeout_s = timeout_s

    async def find(self, collection: Collection, judgment: Judgment, generation_id: str) -> Found:
        """See `Searcher.find`."""
        request = convert.judged_search_to_proto(collection, judgment, generation_id)
        return convert.found_from_proto(await self._client.search(request, timeout_s=self._timeout_s))
