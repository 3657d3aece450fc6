"""The gRPC edge of search: decode, search, encode."""

from typing import Any

import grpc
from google.protobuf.descriptor import ServiceDescriptor

from plumbline.search.v1 import search_pb2 as pb
from plumbline.search.v1.search_pb2_grpc import SearchServiceServicer, add_SearchServiceServicer_to_server
from services.search import convert
from services.search.metrics import SearchMetrics
from services.search.pipeline import SearchPipeline

SERVICE: ServiceDescriptor = pb.DESCRIPTOR.services_by_name["SearchService"]


class SearchServicer(SearchServiceServicer):
    """Serves searches."""

    def __init__(self, pipeline: SearchPipeline, metrics: SearchMetrics) -> None:
        self._pipeline = pipeline
        self._metrics = metrics

    async def Search(self, request: pb.SearchRequest, context: grpc.aio.ServicerContext[Any, Any]) -> pb.SearchResponse:
        """See `SearchService.Search`."""
        query, condition = convert.query_from_proto(request), convert.condition_from_proto(request)
        page = await self._pipeline.search(query, condition)
        self._metrics.observe(page)
        return convert.page_to_proto(page, explain=query.explain)

    async def ListChunks(
        self, request: pb.ListChunksRequest, context: grpc.aio.ServicerContext[Any, Any]
    ) -> pb.ListChunksResponse:
        """See `SearchService.ListChunks`."""
        generation, chunks = await self._pipeline.document_chunks(request.collection, request.document_id)
        return convert.chunks_to_proto(generation, chunks)

    def add_to(self, server: grpc.aio.Server) -> None:
        """Register with a server."""
        add_SearchServiceServicer_to_server(self, server)
