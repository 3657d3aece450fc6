"""A ranking service whose behaviour a test scripts: the simplest of our RPCs, so it stands for any peer."""

from collections.abc import Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager

import grpc

from plumbline.ranking.v1 import ranking_pb2 as pb
from plumbline.ranking.v1.ranking_pb2_grpc import RankingServiceServicer, add_RankingServiceServicer_to_server
from services.ranking.settings import RankingServiceSettings
from services.shared.clients.ranking import SERVICE
from services.shared.runtime.rpc_metrics import RpcMetrics
from services.shared.runtime.server import App
from tests.fakes.serving import RecordedTelemetry, Served, served

Behaviour = Callable[[pb.RankRequest], Awaitable[pb.RankResponse]]


class ScriptedRanking(RankingServiceServicer):
    """Answers each call by the next behaviour, the last one again and again; keeps what it saw."""

    def __init__(self, *behaviours: Behaviour) -> None:
        self._behaviours: Sequence[Behaviour] = behaviours
        self.seconds_left: list[float] = []
        self.metadata: list[dict[str, str | bytes]] = []

    async def Rank(self, request: pb.RankRequest, context: grpc.aio.ServicerContext) -> pb.RankResponse:
        number = min(len(self.seconds_left), len(self._behaviours) - 1)
        self.seconds_left.append(context.time_remaining())
        self.metadata.append(dict(context.invocation_metadata() or ()))
        return await self._behaviours[number](request)

    @property
    def calls(self) -> int:
        """How often it was called."""
        return len(self.seconds_left)


def serving_ranking(
    servicer: ScriptedRanking, telemetry: RecordedTelemetry, **settings: float
) -> AbstractAsyncContextManager[Served]:
    """The servicer behind our own server skeleton."""
    app = App(
        register=lambda server: add_RankingServiceServicer_to_server(servicer, server),
        services=[SERVICE],
        metrics=RpcMetrics("ranking", telemetry.telemetry.registry),
    )
    return served(app, RankingServiceSettings(port=0, **settings), telemetry.telemetry)


async def answers(_: pb.RankRequest) -> pb.RankResponse:
    """An empty answer."""
    return pb.RankResponse()


def raises(error: Exception) -> Behaviour:
    """A behaviour that fails."""

    async def fail(_: pb.RankRequest) -> pb.RankResponse:
        raise error

    return fail
