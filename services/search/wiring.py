"""Builds the search service."""

import secrets

from services.search.adapters.catalog import SharedCatalog
from services.search.adapters.embedding_service import EmbeddingService
from services.search.adapters.ranking_service import RankingService
from services.search.legs import Legs
from services.search.metrics import SearchMetrics
from services.search.pipeline import SearchPipeline
from services.search.ports import Catalog
from services.search.servicer import SERVICE, SearchServicer
from services.search.settings import SearchSettings
from services.search.time_limits import TimeLimits
from services.shared.clients.embedding import EmbeddingClient
from services.shared.clients.ranking import RankingClient
from services.shared.index.opening import open_index
from services.shared.index.port import Index
from services.shared.runtime.server import App
from services.shared.runtime.telemetry import Telemetry


async def build(settings: SearchSettings, telemetry: Telemetry) -> App:
    """Search over the catalog's database and the index."""
    catalog = SharedCatalog(settings.catalog_url.get_secret_value())
    return search_app(settings, telemetry, catalog=catalog, index=await open_index(settings))


def search_app(settings: SearchSettings, telemetry: Telemetry, *, catalog: Catalog, index: Index) -> App:
    """Search over this catalog and index, and the embedding and ranking services that the settings name."""
    metrics = SearchMetrics(telemetry.registry)
    embedding = EmbeddingClient(settings.embedding_target, telemetry, metrics.rpc)
    ranking = RankingClient(settings.ranking_target, telemetry, metrics.rpc)
    limits = TimeLimits(
        catalog_s=settings.catalog_timeout_s,
        embed_s=settings.embed_timeout_s,
        keyword_s=settings.keyword_timeout_s,
        vector_s=settings.vector_timeout_s,
        rank_s=settings.rank_timeout_s,
        reserve_s=settings.reserve_s,
    )
    secret = settings.cursor_secret
    pipeline = SearchPipeline(
        catalog=catalog,
        index=index,
        legs=Legs(index, EmbeddingService(embedding), limits),
        ranker=RankingService(ranking),
        limits=limits,
        remember_s=settings.catalog_memory_s,
        cursor_secret=secret.get_secret_value().encode() if secret else secrets.token_bytes(32),
    )
    return App(
        register=SearchServicer(pipeline, metrics).add_to,
        services=[SERVICE],
        metrics=metrics.rpc,
        become_ready=pipeline.check,
        closables=[catalog, index, embedding, ranking],
    )
