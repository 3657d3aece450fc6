"""A search service that gives one scripted outcome, behind a real server."""

from contextlib import AbstractAsyncContextManager

import grpc

from plumbline.search.v1 import search_pb2 as pb
from plumbline.search.v1.search_pb2_grpc import SearchServiceServicer, add_SearchServiceServicer_to_server
from services.shared.clients.search import SERVICE
from services.shared.runtime.rpc_metrics import RpcMetrics
from services.shared.runtime.server import App
from services.shared.runtime.settings import RpcSettings
from tests.fakes.serving import Served, recorded_telemetry, served


class ScriptedSearch(SearchServiceServicer):
    """Answers each call with `outcome`; keeps the requests."""

    def __init__(self, outcome: pb.SearchResponse | Exception) -> None:
        self.outcome = outcome
        self.requests: list[pb.SearchRequest] = []

    async def Search(self, request: pb.SearchRequest, context: grpc.aio.ServicerContext) -> pb.SearchResponse:
        self.requests.append(request)
        if isinstance(self.outcome, Exception):
            raise self.outcome
        return self.outcome


def serving_search(servicer: ScriptedSearch) -> AbstractAsyncContextManager[Served]:
    """The servicer behind our own server skeleton."""
    telemetry = recorded_telemetry("search")
    app = App(
        register=lambda server: add_SearchServiceServicer_to_server(servicer, server),
        services=[SERVICE],
        metrics=RpcMetrics("search", telemetry.telemetry.registry),
    )
    return served(app, RpcSettings(port=0), telemetry.telemetry)
