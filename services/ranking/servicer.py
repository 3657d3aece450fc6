"""The gRPC edge of ranking: decode, rank, encode."""

import time
from collections.abc import Callable
from datetime import date
from typing import Any

import grpc
from google.protobuf.descriptor import ServiceDescriptor

from plumbline.ranking.v1 import ranking_pb2 as pb
from plumbline.ranking.v1.ranking_pb2_grpc import RankingServiceServicer, add_RankingServiceServicer_to_server
from services.ranking import convert
from services.ranking.metrics import RankingMetrics
from services.ranking.pipeline import rank

SERVICE: ServiceDescriptor = pb.DESCRIPTOR.services_by_name["RankingService"]


class RankingServicer(RankingServiceServicer):
    """Orders windows; `today` gives the day in UTC."""

    def __init__(self, metrics: RankingMetrics, *, today: Callable[[], date]) -> None:
        self._metrics = metrics
        self._today = today

    async def Rank(self, request: pb.RankRequest, context: grpc.aio.ServicerContext[Any, Any]) -> pb.RankResponse:
        """See `RankingService.Rank`."""
        window = convert.window_from_proto(request)
        policy = convert.policy_from_proto(request.settings)
        day = convert.day_from_proto(request.settings.clock_date, today=self._today())
        limit = convert.limit_from_proto(request)
        started = time.perf_counter()
        ranking = rank(window, policy, today=day, limit=limit)
        seconds = time.perf_counter() - started
        self._metrics.order_seconds.observe(seconds)
        self._metrics.window_candidates.observe(len(window.candidates))
        return convert.ranking_to_proto(ranking, rank_ms=seconds * 1000)

    def add_to(self, server: grpc.aio.Server) -> None:
        """Register with a server."""
        add_RankingServiceServicer_to_server(self, server)
