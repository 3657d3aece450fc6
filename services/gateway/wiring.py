"""Builds the gateway."""

from services.gateway.adapters.answer_service import AnswerService
from services.gateway.adapters.catalog import SharedCatalog
from services.gateway.adapters.ingest_service import IngestService
from services.gateway.adapters.search_service import SearchService
from services.gateway.adapters.service_states import Service, ServiceStates
from services.gateway.app import Ports, http_app
from services.gateway.metrics import GatewayMetrics
from services.gateway.readiness import Readiness
from services.gateway.server import App
from services.gateway.settings import GatewaySettings
from services.shared.clients import answer, embedding, ingest, ranking, search
from services.shared.runtime.telemetry import Telemetry


async def build(settings: GatewaySettings, telemetry: Telemetry) -> App:
    """The gateway over real services; nothing is asked of them before the first request."""
    metrics, readiness = GatewayMetrics(telemetry.registry), Readiness()
    search_client = search.SearchClient(settings.search_target, telemetry, metrics.rpc)
    answer_client = answer.AnswerClient(settings.answer_target, telemetry, metrics.rpc)
    ingest_client = ingest.IngestClient(settings.ingest_target, telemetry, metrics.rpc)
    embedding_client = embedding.EmbeddingClient(settings.embedding_target, telemetry, metrics.rpc)
    ranking_client = ranking.RankingClient(settings.ranking_target, telemetry, metrics.rpc)
    catalog = SharedCatalog(settings.catalog_url.get_secret_value(), timeout_s=settings.catalog_timeout_s)
    ports = Ports(
        searcher=SearchService(search_client, timeout_s=settings.search_timeout_s),
        answerer=AnswerService(answer_client, timeout_s=settings.answer_timeout_s),
        ingester=IngestService(
            ingest_client,
            write_timeout_s=settings.write_timeout_s,
            upload_timeout_s=settings.upload_timeout_s,
            watch_timeout_s=settings.watch_timeout_s,
            promote_timeout_s=settings.promote_timeout_s,
        ),
        catalog=catalog,
        judgments=catalog,
        system=ServiceStates(
            {
                "embedding": Service(embedding_client.peer.channel, embedding.SERVICE),
                "search": Service(search_client.peer.channel, search.SERVICE),
                "ranking": Service(ranking_client.peer.channel, ranking.SERVICE),
                "answer": Service(answer_client.peer.channel, answer.SERVICE),
                "ingest": Service(ingest_client.peer.channel, ingest.SERVICE),
            },
            embedding_client,
            answer_client,
            timeout_s=settings.status_timeout_s,
        ),
    )

    async def become_ready() -> None:
        await catalog.open()
        await catalog.jobs(collection=None, limit=1)

    return App(
        asgi=http_app(ports, settings, telemetry, metrics, readiness),
        readiness=readiness,
        become_ready=become_ready,
        closables=(catalog, search_client, answer_client, ingest_client, embedding_client, ranking_client),
    )
