"""Builds the embedding service."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

from services.embedding.adapters.model_folder import ModelFolder, find_model
from services.embedding.domain.embedding import Purpose
from services.embedding.first_pass import MOST_BATCH_TOKENS, paced_batch_tokens, try_encoder, try_scorer
from services.embedding.loaded_models import LoadedModels, ModelSource
from services.embedding.metrics import EmbeddingMetrics
from services.embedding.pipeline import EmbeddingPipeline
from services.embedding.ports import Encoder, Scorer, UnfitModel
from services.embedding.query_cache import QueryCache
from services.embedding.scoring import ScoringPipeline
from services.embedding.servicer import SERVICE, EmbeddingServicer
from services.embedding.settings import OPENAI, EmbeddingSettings, keep_few_kernels, let_waiting_threads_sleep
from services.shared.batching.batcher import Batcher, Lane
from services.shared.batching.device import DeviceThread
from services.shared.runtime.server import App
from services.shared.runtime.telemetry import Telemetry

_HASHING = "hashing"


async def build(settings: EmbeddingSettings, telemetry: Telemetry) -> App:
    """The service; its models are loaded when it becomes ready, which raises SystemExit when that cannot be."""
    return assemble(settings, telemetry, encoders=encoder_sources(settings), scorer=scorer_source(settings))


def assemble(
    settings: EmbeddingSettings,
    telemetry: Telemetry,
    *,
    encoders: list[ModelSource[Encoder]],
    scorer: ModelSource[Scorer] | None = None,
) -> App:
    """The service around the models of these sources."""
    metrics = EmbeddingMetrics(telemetry.registry)
    device, endpoint = DeviceThread(), DeviceThread()

    def batcher(thread: DeviceThread) -> Batcher:
        queue_tokens = {Lane.QUERY: settings.query_queue_tokens, Lane.INGEST: settings.ingest_queue_tokens}
        return Batcher(thread, queue_tokens, ingest_patience_s=settings.ingest_patience_s, observer=metrics)

    # What waits for an endpoint must not hold the device up, nor the other way round.
    on_device, at_endpoint = batcher(device), batcher(endpoint)
    cache = QueryCache(settings.query_cache_mib * 2**20)

    async def serve(encoder: Encoder) -> EmbeddingPipeline:
        is_here = encoder.facts.device != "endpoint"
        thread = device if is_here else endpoint
        await try_encoder(encoder, thread)
        ingest_batch_tokens = settings.ingest_batch_tokens or MOST_BATCH_TOKENS
        if encoder.facts.device == "cpu" and not settings.ingest_batch_tokens:
            ingest_batch_tokens = await paced_batch_tokens(encoder, thread)
        batch_tokens = {Lane.QUERY: settings.query_batch_tokens, Lane.INGEST: ingest_batch_tokens}
        return EmbeddingPipeline(
            encoder, on_device if is_here else at_endpoint, cache, metrics, batch_tokens=batch_tokens
        )

    async def serve_scorer(scorer: Scorer) -> ScoringPipeline:
        await try_scorer(scorer, device)
        return ScoringPipeline(scorer, on_device, metrics, batch_tokens=settings.query_batch_tokens)

    models = LoadedModels(encoders, scorer, serve=serve, serve_scorer=serve_scorer)
    return App(
        register=EmbeddingServicer(models, partial(further_source, settings)).add_to,
        services=[SERVICE],
        metrics=metrics.rpc,
        become_ready=models.load,
        closables=[device, endpoint],
    )


@dataclass(frozen=True, slots=True)
class _Named:
    """A model as it is named, and what is said of it beside its own configuration."""

    name: str
    weights_sha256: str | None
    prompts: Mapping[Purpose, str | None] = field(default_factory=dict)
    shorter_dimensions: Sequence[int] = ()


def encoder_sources(settings: EmbeddingSettings) -> list[ModelSource[Encoder]]:
    """The encoders that the settings name, the default one first."""
    first = _Named(
        settings.model,
        settings.weights_sha256,
        {Purpose.QUERY: settings.query_prompt, Purpose.PASSAGE: settings.passage_prompt},
        settings.shorter_dimensions,
    )
    second = _Named(
        settings.second_model or "",
        settings.second_weights_sha256,
        {Purpose.QUERY: settings.second_query_prompt, Purpose.PASSAGE: settings.second_passage_prompt},
        settings.second_shorter_dimensions,
    )
    prefix = settings.environment_prefix
    return [
        ModelSource(f"{prefix}{knob}={model.name}", partial(_load_encoder, settings, model))
        for knob, model in (("MODEL", first), ("SECOND_MODEL", second))
        if model.name
    ]


def scorer_source(settings: EmbeddingSettings) -> ModelSource[Scorer] | None:
    """The cross-encoder that the settings name."""
    name = settings.cross_encoder
    if not name:
        return None

    def load() -> Scorer:
        folder = _checked(find_model(name, settings.models, config="config.json"), settings.cross_encoder_sha256)
        _prepare_torch()
        from services.embedding.adapters.cross_encoder_scorer import load_cross_encoder
        from services.embedding.adapters.placement import place

        placement = place(device=settings.device, dtype=settings.dtype, threads=settings.threads)
        return load_cross_encoder(folder, placement)

    return ModelSource(f"{settings.environment_prefix}CROSS_ENCODER={name}", load)


def further_source(settings: EmbeddingSettings, name: str, weights_sha256: str | None) -> ModelSource[Encoder]:
    """An encoder that a caller names: one of the folder of models."""
    return ModelSource(f"model {name}", partial(_load_encoder, settings, _Named(name, weights_sha256)))


def _load_encoder(settings: EmbeddingSettings, model: _Named) -> Encoder:
    name = model.name
    if name == _HASHING:
        from services.embedding.adapters.hashing_encoder import HashingEncoder

        return HashingEncoder()
    if name.startswith(OPENAI):
        from services.embedding.adapters.openai_encoder import load_openai_encoder

        return load_openai_encoder(
            name.removeprefix(OPENAI),
            url=settings.openai_url or "",
            api_key=settings.openai_api_key.get_secret_value(),
            max_tokens=settings.openai_max_tokens,
            timeout_s=settings.openai_timeout_s,
        )
    folder = _checked(find_model(name, settings.models, config="modules.json"), model.weights_sha256)
    _prepare_torch()
    # Torch takes seconds to import; health is answered meanwhile.
    from services.embedding.adapters.placement import place
    from services.embedding.adapters.sentence_transformer_encoder import load_sentence_transformer

    return load_sentence_transformer(
        folder,
        place(device=settings.device, dtype=settings.dtype, threads=settings.threads),
        prompts={purpose: prompt for purpose, prompt in model.prompts.items() if prompt is not None},
        shorter_dimensions=model.shorter_dimensions,
    )


def _checked(folder: ModelFolder, wanted_sha256: str | None) -> ModelFolder:
    """The folder, when its weights are the wanted ones. Raises UnfitModel."""
    if wanted_sha256 and (sha256 := folder.weights_sha256()) != wanted_sha256:
        raise UnfitModel(f"{folder.path} has weights with SHA-256 {sha256}, not {wanted_sha256}")
    return folder


def _prepare_torch() -> None:
    """Set what torch reads from the environment when it is imported."""
    let_waiting_threads_sleep()
    keep_few_kernels()
