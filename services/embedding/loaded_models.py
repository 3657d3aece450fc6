"""The model that this process serves, from loading to lookup by name."""

from collections.abc import Callable, Sequence

import structlog

from services.embedding.domain.embedding import Purpose
from services.embedding.domain.unit_vectors import unit_rows
from services.embedding.pipeline import EmbeddingPipeline
from services.embedding.ports import Encoder
from services.shared.batching.device import DeviceThread
from services.shared.runtime.errors import DependencyUnavailable, NotFound

log = structlog.get_logger()


class LoadedModels:
    """Answers no lookup before `load` has seen a real forward pass."""

    def __init__(
        self, load: Callable[[], Encoder], serve: Callable[[Encoder], EmbeddingPipeline], device: DeviceThread
    ) -> None:
        self._load = load
        self._serve = serve
        self._device = device
        self._pipeline: EmbeddingPipeline | None = None

    async def load(self) -> None:
        """Load the model on the device's thread, so that health is answered meanwhile. Raises SystemExit."""
        encoder = await self._device.run(_load_and_try, self._load)
        self._pipeline = self._serve(encoder)
        facts = encoder.facts
        log.info(
            "model_loaded",
            model=facts.name,
            kind=facts.kind,
            weights_sha256=facts.weights_sha256,
            device=facts.device,
            dtype=facts.dtype,
            dimensions=facts.dimensions,
            max_tokens=facts.max_tokens,
        )

    def names(self) -> Sequence[str]:
        """Names of the models that answer now, the default one first."""
        return [self._pipeline.facts.name] if self._pipeline else []

    def named(self, name: str) -> EmbeddingPipeline:
        """The model of that name, for an empty name the default one. Raises DependencyUnavailable, NotFound."""
        if self._pipeline is None:
            raise DependencyUnavailable("the model is still loading", retry_after_s=1.0)
        if name not in ("", self._pipeline.facts.name):
            raise NotFound(f"model {name} is not loaded here; loaded: {', '.join(self.names())}", field="model")
        return self._pipeline


def _load_and_try(load: Callable[[], Encoder]) -> Encoder:
    encoder = load()
    (text,) = encoder.tokenize(["A first pass."], Purpose.QUERY, truncate=False)
    rows, unsound = unit_rows(encoder.forward([window.pieces for window in text.windows]))
    if unsound or rows.shape[1] != encoder.facts.dimensions:
        facts = encoder.facts
        raise SystemExit(f"model {facts.name} gives no sound vector on {facts.device} in {facts.dtype}")
    return encoder
