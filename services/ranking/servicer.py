"""The gRPC edge of ranking: decode, rank, encode."""

from collections.abc import Callable
from datetime import date
from typing import Any

import grpc
from google.protobuf.descriptor import ServiceDescriptor

from plumbline.ranking.v1 import ranking_pb2 as pb
from plumbline.ranking.v1.ranking_pb2_grpc import RankingServiceServicer, add_RankingServiceServicer_to_server
from services.ranking import convert
from services.ranking.metrics import RankingMetrics
from services.ranking.pipeline import RankingPipeline
from services.ranking.span_ledger import put_on_span

SERVICE: ServiceDescriptor = pb.DESCRIPTOR.services_by_name["RankingService"]


class RankingServicer(RankingServiceServicer):
    """Orders windows; `today` gives the day in UTC."""

    def __init__(self, pipeline: RankingPipeline, metrics: RankingMetrics, *, today: Callable[[], date]) -> None:
        self._pipeline = pipeline
        self._metrics = metrics
        self._today = today

    async def Rank(self, request: pb.RankRequest, context: grpc.aio.ServicerContext[Any, Any]) -> pb.RankResponse:
        """See `RankingService.Rank`."""
        policy = convert.policy_from_proto(request.settings)
        window = convert.window_from_proto(request)
        day = convert.day_from_proto(request.settings.clock_date, today=self._today())
        limit = convert.limit_from_proto(request)
        ranking = await self._pipeline.rank(window, policy, today=day, limit=limit)
        self._metrics.observe(ranking, candidates=len(window.candidates))
        put_on_span(ranking.hits)
        return convert.ranking_to_proto(ranking, with_ledgers=not request.without_ledgers)

    def add_to(self, server: grpc.aio.Server) -> None:
        """Register with a server."""
        add_RankingServiceServicer_to_server(self, server)
