"""Builds the answer service."""

from services.answer.adapters.extractive_generator import ExtractiveGenerator
from services.answer.adapters.openai_generator import OpenAIGenerator, Patience
from services.answer.adapters.passage_search import GrpcPassageSearch
from services.answer.adapters.similarity import GrpcSimilarity
from services.answer.metrics import AnswerMetrics
from services.answer.pipeline import AnswerPipeline
from services.answer.servicer import SERVICE, AnswerServicer
from services.answer.settings import AnswerServiceSettings
from services.shared.clients.embedding import EmbeddingClient
from services.shared.clients.search import SearchClient
from services.shared.runtime.server import App
from services.shared.runtime.telemetry import Telemetry


async def build(settings: AnswerServiceSettings, telemetry: Telemetry) -> App:
    """Search for the passages; a language model where one is configured, sentences of the passages where none is."""
    metrics = AnswerMetrics(telemetry.registry)
    search_client = SearchClient(settings.search_target, telemetry, metrics.rpc)
    embedding_client = EmbeddingClient(settings.embedding_target, telemetry, metrics.rpc)
    search = GrpcPassageSearch(search_client, passages=settings.passages, timeout_s=settings.search_timeout_s)
    similarity = GrpcSimilarity(embedding_client, timeout_s=settings.embedding_timeout_s)
    language_model = _language_model(settings)
    pipeline = AnswerPipeline(search=search, extractive=ExtractiveGenerator(similarity), language_model=language_model)
    return App(
        register=AnswerServicer(pipeline, metrics).add_to,
        services=[SERVICE],
        metrics=metrics.rpc,
        become_ready=search.answered,
        closables=[search_client, embedding_client, *([language_model] if language_model else [])],
    )


def _language_model(settings: AnswerServiceSettings) -> OpenAIGenerator | None:
    if settings.llm_base_url is None or settings.llm_model is None:
        return None
    return OpenAIGenerator(
        url=settings.llm_base_url,
        model=settings.llm_model,
        api_key=settings.llm_api_key.get_secret_value() if settings.llm_api_key else "none",
        context_tokens=settings.llm_context_tokens,
        patience=Patience(
            connect_s=settings.llm_connect_timeout_s,
            first_token_s=settings.llm_first_token_timeout_s,
            next_token_s=settings.llm_next_token_timeout_s,
        ),
    )
