"""Builds generations beside the serving one, from the originals, a few documents at a time.

Any number of builders share the work. What ends one loses nothing: its documents are built again by another, and come
to the same chunks. Changes go first: a document that is about to change is left to its change.
"""

import asyncio
import uuid
from collections.abc import Callable, Mapping, Sequence
from functools import partial

import structlog

from services.ingest.failure import pause_before_retry_s, reason_for
from services.ingest.generation_writer import GenerationWriter
from services.ingest.leased_batches import Bell, held, repeat, together_or_alone, until_answered
from services.shared.catalog.acceptance import Outcome
from services.shared.catalog.builds import BuildItem
from services.shared.catalog.catalog import Catalog
from services.shared.catalog.term_statistics import DocumentTerms
from services.shared.runtime.errors import Conflict, PlumblineError

log = structlog.get_logger()


class Builder:
    """One builder; `ring` makes it look at once."""

    def __init__(
        self,
        name: str,
        catalog: Catalog,
        writer: GenerationWriter,
        *,
        batch_documents: int,
        lease_s: float,
        poll_s: float,
        clock: Callable[[], float],
    ) -> None:
        self._name = name
        self._catalog = catalog
        self._writer = writer
        self._batch_documents = batch_documents
        self._lease_s = lease_s
        self._poll_s = poll_s
        self._clock = clock
        self._bell = Bell()

    def ring(self) -> None:
        """Tell the builder that a build was started."""
        self._bell.ring()

    async def run(self) -> None:
        """Build what there is to build, for ever."""
        await repeat(self._build_next, self._bell, poll_s=self._poll_s)

    async def _build_next(self) -> bool:
        """Whether anything was due."""
        items = await self._catalog.builds.claim(
            owner=self._name, now=self._clock(), lease_s=self._lease_s, limit=self._batch_documents
        )
        if items:
            try:
                async with held(partial(self._renew, items), lease_s=self._lease_s):
                    await together_or_alone(items, self._write, self._write_alone, self._failed)
            except asyncio.CancelledError:
                for item in items:  # let another go on at once instead of after the lease
                    await self._catalog.builds.put_off(item, retry_at=self._clock())
                raise
        return bool(items)

    async def _renew(self, items: Sequence[BuildItem]) -> None:
        await self._catalog.builds.renew(items, now=self._clock(), lease_s=self._lease_s)

    async def _write(self, items: Sequence[BuildItem], *, cut_off: bool = False) -> None:
        generation = await self._catalog.generations.get(items[0].generation_id)
        serving = await self._catalog.generations.get(items[0].serving_id)
        revisions = []
        for item in items:
            document = await self._catalog.documents.at_revision(item.collection, item.document_id, item.revision)
            revisions.append(await self._writer.read(item.document_id, item.revision, document.content))

        async def require_held(_: Mapping[str, DocumentTerms]) -> None:
            await self._catalog.builds.require_held(items)

        written = await self._writer.write(
            revisions,
            generation,
            before_writing=require_held,
            like=serving,
            cut_off={item.document_id: () for item in items if cut_off or item.attempts > 1},
        )
        for item, of_item in zip(items, written, strict=True):
            outcome = Outcome.EMBEDDED if of_item.embedded else Outcome.REUSED
            try:
                await self._catalog.builds.commit(
                    item, chunk_ids=of_item.chunk_ids, terms=of_item.terms, outcome=outcome, now=self._clock()
                )
            except Conflict as late:
                await self._put_off(item, late)

    async def _write_alone(self, item: BuildItem) -> None:
        await self._write([item], cut_off=True)

    async def _failed(self, item: BuildItem, error: Exception) -> None:
        if isinstance(error, Conflict):
            await self._put_off(item, error)
            return
        pause_s = pause_before_retry_s(error, item.attempts)
        if pause_s is not None:
            await self._catalog.builds.put_off(item, retry_at=self._clock() + pause_s)
            return
        reason = reason_for(error, item.document_id, item.attempts)
        log.warning("build_failed", generation_id=item.generation_id, document_id=item.document_id, reason=reason)
        try:
            await self._catalog.builds.fail(item, reason=reason, now=self._clock())
        except Conflict as late:
            log.info("build_ended_elsewhere", generation_id=item.generation_id, reason=late.message)

    async def _put_off(self, item: BuildItem, why: PlumblineError) -> None:
        """Look again when another has done with the document; what this attempt wrote may stand over theirs."""
        log.info("document_not_built", document_id=item.document_id, reason=why.message)
        await until_answered(partial(self._catalog.builds.put_off, item, retry_at=self._clock()))
        await until_answered(partial(self._apply_again, item))

    async def _apply_again(self, item: BuildItem) -> None:
        await self._catalog.repairs.apply_again(
            item.collection,
            item.document_id,
            job_id=uuid.uuid4().hex,
            now=self._clock(),
            written_to=item.generation_id,
        )
