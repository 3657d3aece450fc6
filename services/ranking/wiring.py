"""Builds the ranking service."""

from datetime import UTC, datetime

from services.ranking.metrics import RankingMetrics
from services.ranking.servicer import SERVICE, RankingServicer
from services.ranking.settings import RankingServiceSettings
from services.shared.runtime.server import App
from services.shared.runtime.telemetry import Telemetry


async def build(settings: RankingServiceSettings, telemetry: Telemetry) -> App:
    """Ranking needs nothing but the clock."""
    metrics = RankingMetrics(telemetry.registry)
    servicer = RankingServicer(metrics, today=lambda: datetime.now(UTC).date())
    return App(register=servicer.add_to, services=[SERVICE], metrics=metrics.rpc)
