"""Generations of a collection: built beside the serving one, promoted when the gate holds, rolled back at once."""

import uuid
from collections.abc import Callable
from dataclasses import dataclass

import structlog

from services.ingest.gate import Gate, GateFigures
from services.ingest.manifests import manifest_of
from services.ingest.ports import Embedder
from services.shared.catalog.catalog import Catalog
from services.shared.catalog.collections import Collection
from services.shared.catalog.manifest import Generation, GenerationState, Manifest
from services.shared.catalog.profiles import Profile, resolve_settings
from services.shared.index.port import Index
from services.shared.runtime.errors import Conflict, InvalidInput, NotFound, PlumblineError

log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class Promoted:
    """What serves now, and what the gate measured before."""

    collection: Collection
    figures: GateFigures


class GenerationKeeper:
    """Builds, promotes and rolls back; `on_start` wakes the builder."""

    def __init__(
        self,
        catalog: Catalog,
        index: Index,
        embedder: Embedder,
        gate: Gate,
        *,
        clock: Callable[[], float],
        on_start: Callable[[], None],
    ) -> None:
        self._catalog = catalog
        self._index = index
        self._embedder = embedder
        self._gate = gate
        self._clock = clock
        self._on_start = on_start

    async def build(self, name: str, *, model: str, profile: str) -> tuple[Generation, str]:
        """The new generation and the job that builds it; empty `model` and `profile` keep the active one's.

        Raises NotFound for the collection or the model, InvalidInput, Conflict when one is being built already.
        """
        collection = await self._catalog.collections.get(name)
        manifest = await self._manifest(collection, model=model, profile=profile)
        generation_id, job_id = str(uuid.uuid4()), uuid.uuid4().hex
        # The index before the catalog's word: whoever applies a change to it finds it.
        await self._index.create_generation(
            generation_id, manifest.dimensions, collection.declaration.fields, precision=manifest.precision
        )
        try:
            generation = await self._catalog.builds.start(
                name, generation_id=generation_id, manifest=manifest, job_id=job_id, now=self._clock()
            )
        except (Conflict, NotFound):
            await self._drop(generation_id)
            raise
        self._on_start()
        return generation, job_id

    async def promote(self, name: str, generation_id: str, *, max_ndcg_loss: float) -> Promoted:
        """Let a ready generation serve when its nDCG@10 is at most `max_ndcg_loss` below that of the serving one.

        Raises InvalidInput, NotFound, and Conflict with the figures when it is not ready, the gate fails or what it
        holds differs.
        """
        if not 0 <= max_ndcg_loss <= 1:
            raise InvalidInput("the most that nDCG@10 may fall is from 0 to 1", field="max_ndcg_loss")
        collection = await self._catalog.collections.get(name)
        generation = await self._catalog.generations.get(generation_id)
        if generation.collection != name:
            raise NotFound(f"collection '{name}' has no generation '{generation_id}'", field="generation_id")
        if generation.state is not GenerationState.READY:
            raise Conflict(f"generation '{generation_id}' is {generation.state}, not ready")
        figures = await self._gate.measure(collection, generation_id)
        if figures.candidate_ndcg10 < figures.serving_ndcg10 - max_ndcg_loss:
            raise Conflict(
                f"nDCG@10 over {figures.queries} judged queries falls from {figures.serving_ndcg10:.4f} to "
                f"{figures.candidate_ndcg10:.4f}, more than the {max_ndcg_loss:g} allowed"
            )
        await self._catalog.generations.promote(name, generation_id)
        return Promoted(await self._catalog.collections.get(name), figures)

    async def roll_back(self, name: str) -> Collection:
        """Let the previous generation serve again. Raises NotFound, Conflict when there is none."""
        await self._catalog.generations.roll_back(name)
        return await self._catalog.collections.get(name)

    async def _manifest(self, collection: Collection, *, model: str, profile: str) -> Manifest:
        declaration, active = collection.declaration, collection.active.manifest
        if profile and profile not in set(Profile):
            raise InvalidInput(f"a profile is one of {', '.join(Profile)}", field="profile")
        chosen = Profile(profile or active.profile)
        settings = resolve_settings(chosen, declaration.fields, declaration.settings)
        return manifest_of(await self._embedder.model(model or active.model), chosen, settings)

    async def _drop(self, generation_id: str) -> None:
        try:
            await self._index.drop_generation(generation_id)
        except PlumblineError as error:
            log.warning("generation_not_dropped", generation_id=generation_id, reason=error.message)
