"""Applying accepted changes: parse, let every generation that is kept in step hold them, commit.

A crash at any step and another attempt come to the same chunks; see `GenerationWriter`.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from services.ingest.generation_writer import GenerationWriter, Held, Revision
from services.shared.catalog.acceptance import Outcome
from services.shared.catalog.catalog import Catalog
from services.shared.catalog.manifest import Generation
from services.shared.catalog.term_statistics import DocumentTerms
from services.shared.catalog.work import AppliedItem
from services.shared.catalog.work_item import Action, WorkItem
from services.shared.runtime.errors import NotFound


@dataclass(frozen=True, slots=True)
class Applied:
    """A claimed item, its revision, and what each generation holds of it by now."""

    item: WorkItem
    revision: Revision
    held: dict[str, Held] = field(default_factory=dict)

    @property
    def outcome(self) -> Outcome:
        """How the document ends with this change."""
        if self.revision.put is None:
            return Outcome.DELETED
        return Outcome.EMBEDDED if any(held.embedded for held in self.held.values()) else Outcome.REUSED


class ApplyPipeline:
    """Applies changes to every generation that is kept in step."""

    def __init__(self, catalog: Catalog, writer: GenerationWriter, *, clock: Callable[[], float]) -> None:
        self._catalog = catalog
        self._writer = writer
        self._clock = clock

    async def apply(self, items: Sequence[WorkItem], *, cut_off: bool = False) -> list[Outcome]:
        """How each item ended; the items belong to one collection, no two to one document.

        `cut_off` tells that this very attempt on them failed a moment ago, wherever that was. Raises what a step
        raises; then none of the items is done.
        """
        changes = await self._read(items)
        item_of = {item.document_id: item for item in items}
        by_weights: dict[str, Generation] = {}  # of two of one model, the second copies what the first embedded
        for generation in await self._catalog.generations.live(items[0].collection):

            async def keep(standing: Mapping[str, DocumentTerms], generation_id: str = generation.id) -> None:
                # Embedding takes the longest: who stood still so long that others have the items writes nothing.
                await self._catalog.work.require_held(items)
                if standing:
                    by_item = {item_of[document_id]: terms for document_id, terms in standing.items()}
                    await self._catalog.work.begin_replacing(generation_id, by_item)

            revisions = [change.revision for change in changes]
            weights = generation.manifest.weights_sha256
            again = [item.document_id for item in items if cut_off or item.attempts > 1]
            held = await self._writer.write(
                revisions,
                generation,
                before_writing=keep,
                like=by_weights.get(weights),
                cut_off=await self._chunks_held(generation.id, again),
            )
            by_weights[weights] = generation
            for change, of_change in zip(changes, held, strict=True):
                change.held[generation.id] = of_change
        await self._commit(changes)
        return [change.outcome for change in changes]

    async def _chunks_held(self, generation_id: str, document_ids: Sequence[str]) -> dict[str, tuple[str, ...]]:
        """The ids of the chunks that the catalog says the generation holds of each of these documents."""
        held = await self._catalog.inventory.holdings_of(generation_id, document_ids) if document_ids else {}
        return {id_: held[id_].chunk_ids if id_ in held else () for id_ in document_ids}

    async def _read(self, items: Sequence[WorkItem]) -> list[Applied]:
        collection = items[0].collection
        documents = await self._catalog.documents.at_revisions(collection, [item.revision for item in items])
        changes = []
        for item in items:
            revision = Revision(item.document_id, item.revision)
            if item.action is not Action.DELETE:
                if item.revision not in documents:
                    raise NotFound(f"revision {item.revision} of '{item.document_id}' is gone", field="document_id")
                revision = await self._writer.read(item.document_id, item.revision, documents[item.revision].content)
            changes.append(Applied(item, revision))
        return changes

    async def _commit(self, changes: Sequence[Applied]) -> None:
        """All in one transaction. Raises Conflict when one of them cannot be committed; then none is."""
        with self._writer.timed("commit"):
            await self._catalog.work.commit_together([_as_committed(change) for change in changes], now=self._clock())


def _as_committed(change: Applied) -> AppliedItem:
    return AppliedItem(
        change.item,
        change.outcome,
        chunk_ids={generation_id: held.chunk_ids for generation_id, held in change.held.items()},
        own_title=change.revision.parsed.title,
        terms={generation_id: held.terms for generation_id, held in change.held.items()},
    )
