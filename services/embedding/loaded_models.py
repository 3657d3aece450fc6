"""The models that this process serves, from loading to lookup by name: up to two encoders, and a cross-encoder."""

import asyncio
import gc
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

import structlog

from services.embedding.domain.embedding import ModelFacts
from services.embedding.pipeline import EmbeddingPipeline
from services.embedding.ports import Encoder, Scorer, UnfitModel
from services.embedding.scoring import ScoringPipeline
from services.shared.runtime.errors import Conflict, DependencyUnavailable, NotFound

log = structlog.get_logger()

# One that serves and the one that follows it: a promotion and its rollback need no more.
MOST_MODELS = 2
ModelT = TypeVar("ModelT")


@dataclass(frozen=True, slots=True)
class ModelSource(Generic[ModelT]):
    """Where a model comes from; `load` raises UnfitModel. `label` begins the sentence that says why it cannot."""

    label: str
    load: Callable[[], ModelT]


class LoadedModels:
    """Answers no lookup before `load` has seen a real forward pass of every model of the settings.

    `serve` and `serve_scorer` try a model and give the pipeline around it; they raise UnfitModel.
    """

    def __init__(
        self,
        sources: Sequence[ModelSource[Encoder]],
        scorer: ModelSource[Scorer] | None,
        *,
        serve: Callable[[Encoder], Awaitable[EmbeddingPipeline]],
        serve_scorer: Callable[[Scorer], Awaitable[ScoringPipeline]],
    ) -> None:
        self._sources = sources
        self._scorer_source = scorer
        self._serve = serve
        self._serve_scorer = serve_scorer
        self._pipelines: dict[str, EmbeddingPipeline] = {}
        self._scorer: ScoringPipeline | None = None
        self._is_ready = False
        self._changing = asyncio.Lock()

    async def load(self) -> None:
        """Load what the settings name, off the event loop, so that health is answered meanwhile. Raises SystemExit."""
        for source in self._sources[len(self._pipelines) :]:
            pipeline = await self._loaded(source)
            if pipeline.facts.name in self._pipelines:
                raise SystemExit(f"{source.label} cannot be served: the first model has that name too")
            self._pipelines[pipeline.facts.name] = pipeline
        if self._scorer_source and not self._scorer:
            try:
                scorer = await asyncio.to_thread(self._scorer_source.load)
                self._scorer = await self._serve_scorer(scorer)
            except UnfitModel as unfit:
                raise SystemExit(f"{self._scorer_source.label} cannot be served: {unfit}") from None
            _tell(self._scorer.facts, ingest_batch_tokens=None)
        self._is_ready = True

    async def _loaded(self, source: ModelSource[Encoder]) -> EmbeddingPipeline:
        try:
            return await self._tried(source)
        except UnfitModel as unfit:
            raise SystemExit(f"{source.label} cannot be served: {unfit}; `make weights` fetches a model") from None

    async def _tried(self, source: ModelSource[Encoder]) -> EmbeddingPipeline:
        pipeline = await self._serve(await asyncio.to_thread(source.load))
        _tell(pipeline.facts, ingest_batch_tokens=pipeline.ingest_batch_tokens)
        return pipeline

    async def add(self, name: str, source: ModelSource[Encoder]) -> EmbeddingPipeline:
        """Serve one more; what is served already answers meanwhile. One that is there is left as it is.

        Raises Conflict when there are two, or this one cannot be served.
        """
        self._refuse_unless_ready()
        async with self._changing:
            if name in self._pipelines:
                return self._pipelines[name]
            if len(self._pipelines) >= MOST_MODELS:
                loaded = ", ".join(self._pipelines)
                raise Conflict(f"{loaded} are loaded, and {MOST_MODELS} is the most; drop one first", field="model")
            try:
                pipeline = await self._tried(source)
            except UnfitModel as unfit:
                raise Conflict(f"{source.label} cannot be served: {unfit}", field="model") from None
            self._pipelines[name] = pipeline
            return pipeline

    async def drop(self, name: str) -> None:
        """Serve it no more; calls to it that run are finished. Raises NotFound, Conflict for the only one."""
        self.named(name)
        async with self._changing:
            if list(self._pipelines) == [name]:
                raise Conflict(f"{name} is the only model; load another one first", field="model")
            self._pipelines.pop(name, None)
        # A module's parts refer to each other: without this its weights would stay until chance collects them.
        await asyncio.to_thread(gc.collect)
        log.info("model_dropped", model=name)

    def names(self) -> Sequence[str]:
        """Names of the models that answer now, the default one first."""
        return list(self._pipelines) if self._is_ready else []

    def named(self, name: str) -> EmbeddingPipeline:
        """The model of that name, for an empty name the default one. Raises DependencyUnavailable, NotFound."""
        self._refuse_unless_ready()
        found = self._pipelines.get(name or next(iter(self._pipelines)))
        if not found:
            raise NotFound(f"model {name} is not loaded here; loaded: {', '.join(self.names())}", field="model")
        return found

    def scorer(self, name: str) -> ScoringPipeline:
        """The cross-encoder, which an empty name means too. Raises DependencyUnavailable, NotFound."""
        self._refuse_unless_ready()
        if not self._scorer:
            raise NotFound("this embedding service serves no cross-encoder", field="model")
        if name not in ("", self._scorer.facts.name):
            raise NotFound(f"cross-encoder {name} is not loaded here; {self._scorer.facts.name} is", field="model")
        return self._scorer

    def _refuse_unless_ready(self) -> None:
        if not self._is_ready:
            raise DependencyUnavailable("the model is still loading", retry_after_s=1.0)


def _tell(facts: ModelFacts, *, ingest_batch_tokens: int | None) -> None:
    log.info(
        "model_loaded",
        model=facts.name,
        kind=facts.kind,
        revision=facts.revision or None,
        weights_sha256=facts.weights_sha256,
        device=facts.device,
        dtype=facts.dtype,
        dimensions=facts.dimensions,
        max_tokens=facts.max_tokens,
        ingest_batch_tokens=ingest_batch_tokens,
    )
