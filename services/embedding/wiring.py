"""Builds the embedding service."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from services.embedding.adapters.model_folder import ModelFolder, UnfitModel
from services.embedding.domain.unit_vectors import Matrix
from services.embedding.loaded_models import LoadedModels
from services.embedding.metrics import EmbeddingMetrics
from services.embedding.pipeline import EmbeddingPipeline
from services.embedding.ports import Encoder
from services.embedding.query_cache import QueryCache
from services.embedding.servicer import SERVICE, EmbeddingServicer
from services.embedding.settings import EmbeddingSettings, let_waiting_threads_sleep
from services.shared.batching.batcher import Batcher, Lane, LaneLimits
from services.shared.batching.device import DeviceThread
from services.shared.runtime.server import App
from services.shared.runtime.telemetry import Telemetry

# Padded tokens in a batch of passages where the setting leaves it open; its description says why.
_INGEST_BATCH_TOKENS = {"cpu": 1024, "cuda": 4096}


async def build(settings: EmbeddingSettings, telemetry: Telemetry) -> App:
    """The service; its model is loaded when it becomes ready. Raises SystemExit when there is none."""
    return assemble(settings, telemetry, load=encoder_loader(settings))


def assemble(settings: EmbeddingSettings, telemetry: Telemetry, *, load: Callable[[], Encoder]) -> App:
    """The service around the encoder that `load` gives; `load` runs on the device's thread."""
    metrics = EmbeddingMetrics(telemetry.registry)
    device = DeviceThread()

    def serve(encoder: Encoder) -> EmbeddingPipeline:
        ingest_batch_tokens = settings.ingest_batch_tokens or _INGEST_BATCH_TOKENS[encoder.facts.device.split(":")[0]]
        batcher: Batcher[tuple[int, ...], Matrix] = Batcher(
            encoder.forward,
            device,
            {
                Lane.QUERY: LaneLimits(settings.query_batch_tokens, settings.query_queue_tokens),
                Lane.INGEST: LaneLimits(ingest_batch_tokens, settings.ingest_queue_tokens),
            },
            ingest_patience_s=settings.ingest_patience_s,
            observer=metrics,
        )
        return EmbeddingPipeline(encoder, batcher, QueryCache(settings.query_cache_mib * 2**20), metrics)

    models = LoadedModels(load, serve, device)
    return App(
        register=EmbeddingServicer(models).add_to,
        services=[SERVICE],
        metrics=metrics.rpc,
        become_ready=models.load,
        closables=[device],
    )


def encoder_loader(settings: EmbeddingSettings) -> Callable[[], Encoder]:
    """What loads the encoder that the settings name. It and its result raise SystemExit with one sentence."""
    if settings.model == "hashing":
        from services.embedding.adapters.hashing_encoder import HashingEncoder

        return HashingEncoder
    with _one_sentence(settings):
        folder = ModelFolder(settings.models / settings.model)  # an absolute path stays what it is

    def load() -> Encoder:
        with _one_sentence(settings):
            sha256 = folder.weights_sha256()
            if settings.weights_sha256 not in (None, sha256):
                raise UnfitModel(f"{folder.path} has weights with SHA-256 {sha256}, not {settings.weights_sha256}")
            let_waiting_threads_sleep()
            # Torch takes seconds to import; health is answered meanwhile.
            from services.embedding.adapters.sentence_transformer_encoder import load_sentence_transformer

            return load_sentence_transformer(
                folder.path,
                name=folder.name,
                weights_sha256=sha256,
                device=settings.device,
                dtype=settings.dtype,
                threads=settings.threads,
            )

    return load


@contextmanager
def _one_sentence(settings: EmbeddingSettings) -> Iterator[None]:
    try:
        yield
    except UnfitModel as unfit:
        variable = f"{settings.environment_prefix}MODEL"
        raise SystemExit(
            f"{variable}={settings.model} cannot be served: {unfit}; `make weights` fetches a model"
        ) from None
