"""Builds the ranking service."""

from datetime import UTC, datetime

from services.ranking.adapters.embedding_service import EmbeddingPairScorer
from services.ranking.metrics import RankingMetrics
from services.ranking.pipeline import RankingPipeline
from services.ranking.servicer import SERVICE, RankingServicer
from services.ranking.settings import RankingServiceSettings
from services.shared.clients.embedding import EmbeddingClient
from services.shared.runtime.server import App
from services.shared.runtime.telemetry import Telemetry


async def build(settings: RankingServiceSettings, telemetry: Telemetry) -> App:
    """Ranking needs the clock, and the embedding service only where a cross-encoder is asked for."""
    metrics = RankingMetrics(telemetry.registry)
    target = settings.embedding_target
    scorer = EmbeddingPairScorer(EmbeddingClient(target, telemetry, metrics.rpc) if target else None)
    servicer = RankingServicer(RankingPipeline(scorer), metrics, today=lambda: datetime.now(UTC).date())
    return App(register=servicer.add_to, services=[SERVICE], metrics=metrics.rpc, closables=[scorer])
