"""Builds generations beside the serving one, from the originals, a few documents at a time.

Any number of builders share the work. What ends one loses nothing: its documents are built again by another, and come
to the same chunks. Changes go first: a document that is about to change is left to its change.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager

import structlog

from services.ingest.domain.retry import MAX_ATTEMPTS_AFTER_FAULT, pause_s
from services.ingest.failure import reason_for, will_pass
from services.ingest.generation_writer import GenerationWriter
from services.shared.catalog.acceptance import Outcome
from services.shared.catalog.builds import BuildItem
from services.shared.catalog.catalog import Catalog
from services.shared.runtime.errors import Conflict, InvalidInput, NotFound, PlumblineError

log = structlog.get_logger()

# After the catalog itself failed, the next look at it.
_CATALOG_PAUSE_S = 1.0


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
        self._bell = asyncio.Event()

    def ring(self) -> None:
        """Tell the builder that a build was started."""
        self._bell.set()

    async def run(self) -> None:
        """Build what there is to build, for ever."""
        while True:
            self._bell.clear()
            try:
                built_some = await self._build_next()
            except PlumblineError as error:
                log.warning("builds_unavailable", reason=error.message)
                await asyncio.sleep(_CATALOG_PAUSE_S)
                continue
            if not built_some:
                await self._wait_for_the_bell()

    async def _build_next(self) -> bool:
        """Whether anything was due."""
        items = await self._catalog.builds.claim(
            owner=self._name, now=self._clock(), lease_s=self._lease_s, limit=self._batch_documents
        )
        if items:
            try:
                async with self._kept(items):
                    await self._build(items)
            except asyncio.CancelledError:
                for item in items:  # let another go on at once instead of after the lease
                    await self._catalog.builds.put_off(item, retry_at=self._clock())
                raise
        return bool(items)

    async def _build(self, items: Sequence[BuildItem]) -> None:
        """Build items of one generation together; when that fails, one by one, so that none fails for another."""
        try:
            await self._write(items)
        except Exception as error:
            if len(items) == 1:
                await self._failed(items[0], error)
                return
            for item in items:
                await self._build([item])

    async def _write(self, items: Sequence[BuildItem]) -> None:
        generation = await self._catalog.generations.get(items[0].generation_id)
        serving = await self._catalog.generations.get(items[0].serving_id)
        revisions = []
        for item in items:
            document = await self._catalog.documents.at_revision(item.collection, item.document_id, item.revision)
            revisions.append(await self._writer.read(item.document_id, item.revision, document.content))
        held = await self._writer.write(revisions, generation, like=serving)
        for item, of_item in zip(items, held, strict=True):
            outcome = Outcome.EMBEDDED if of_item.embedded else Outcome.REUSED
            try:
                await self._catalog.builds.commit(
                    item, chunk_ids=of_item.chunk_ids, terms=of_item.terms, outcome=outcome, now=self._clock()
                )
            except Conflict as late:
                await self._put_off(item, late)

    async def _failed(self, item: BuildItem, error: Exception) -> None:
        if isinstance(error, Conflict):
            await self._put_off(item, error)
            return
        ours = not isinstance(error, InvalidInput | NotFound)
        if will_pass(error) or (ours and item.attempts < MAX_ATTEMPTS_AFTER_FAULT):
            await self._catalog.builds.put_off(item, retry_at=self._clock() + pause_s(item.attempts))
            return
        reason = reason_for(error, item.document_id, item.attempts)
        log.warning("build_failed", generation_id=item.generation_id, document_id=item.document_id, reason=reason)
        try:
            await self._catalog.builds.fail(item, reason=reason, now=self._clock())
        except Conflict as late:
            log.info("build_ended_elsewhere", generation_id=item.generation_id, reason=late.message)

    async def _put_off(self, item: BuildItem, why: PlumblineError) -> None:
        """The document changes or is held by another: look again at once, when that has been done."""
        log.info("document_not_built", document_id=item.document_id, reason=why.message)
        await self._catalog.builds.put_off(item, retry_at=self._clock())

    async def _wait_for_the_bell(self) -> None:
        try:
            async with asyncio.timeout(self._poll_s):
                await self._bell.wait()
        except TimeoutError:
            return

    @asynccontextmanager
    async def _kept(self, items: Sequence[BuildItem]) -> AsyncIterator[None]:
        """Hold the leases of `items` until the block ends."""

        async def renew() -> None:
            while True:
                await asyncio.sleep(self._lease_s / 3)
                try:
                    await self._catalog.builds.renew(items, now=self._clock(), lease_s=self._lease_s)
                except PlumblineError as error:  # lost: its commit will tell
                    log.debug("lease_not_renewed", generation_id=items[0].generation_id, reason=error.message)

        renewing = asyncio.ensure_future(renew())
        try:
            yield
        finally:
            renewing.cancel()
            await asyncio.gather(renewing, return_exceptions=True)
