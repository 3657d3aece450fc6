"""The worker: claims accepted changes under a lease, has them applied, and says how each ended."""

import asyncio
from collections import defaultdict
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager

import structlog

from services.ingest.domain.retry import MAX_ATTEMPTS_AFTER_FAULT, pause_s
from services.ingest.failure import reason_for, will_pass
from services.ingest.metrics import IngestMetrics
from services.ingest.pipeline import ApplyPipeline
from services.shared.catalog.acceptance import Outcome
from services.shared.catalog.catalog import Catalog
from services.shared.catalog.work_item import WorkItem
from services.shared.runtime.errors import Conflict, InvalidInput, NotFound, PlumblineError

log = structlog.get_logger()

# What a batch takes before others get their turn: at 8,000 tokens a second and 4 bytes a token, half a minute.
_BATCH_BYTES = 1024 * 1024
SMALL_BYTES = 256 * 1024
"""The largest original of a small document: eight seconds of such work."""

# After the catalog itself failed, the next look at it.
_CATALOG_PAUSE_S = 1.0


class Worker:
    """One worker; any number of them, in any number of processes, share the queue.

    It takes documents whose originals have at most `max_bytes_each`.
    """

    def __init__(
        self,
        name: str,
        catalog: Catalog,
        pipeline: ApplyPipeline,
        metrics: IngestMetrics,
        *,
        batch_documents: int,
        max_bytes_each: int,
        lease_s: float,
        poll_s: float,
        clock: Callable[[], float],
    ) -> None:
        self._name = name
        self._catalog = catalog
        self._pipeline = pipeline
        self._metrics = metrics
        self._batch_documents = batch_documents
        self._max_bytes_each = max_bytes_each
        self._lease_s = lease_s
        self._poll_s = poll_s
        self._clock = clock
        self._bell = asyncio.Event()

    def ring(self) -> None:
        """Tell the worker that something was accepted, so that it looks at once."""
        self._bell.set()

    async def run(self) -> None:
        """Apply what is accepted, for ever."""
        while True:
            self._bell.clear()
            try:
                applied_some = await self._apply_next()
            except PlumblineError as error:
                # The catalog did not answer. What was claimed comes back when its lease ends.
                log.warning("queue_unavailable", reason=error.message)
                await asyncio.sleep(_CATALOG_PAUSE_S)
                continue
            if not applied_some:
                await self._wait_for_the_bell()

    async def _apply_next(self) -> bool:
        """Whether anything was due."""
        items = await self._catalog.work.claim(
            owner=self._name,
            now=self._clock(),
            lease_s=self._lease_s,
            limit=self._batch_documents,
            max_bytes=_BATCH_BYTES,
            max_bytes_each=self._max_bytes_each,
        )
        try:
            await self._apply_by_collection(items)
        except asyncio.CancelledError:
            await self._give_back(items)
            raise
        return bool(items)

    async def _give_back(self, items: Sequence[WorkItem]) -> None:
        """Let another worker, or this one after a restart, go on at once instead of after the lease."""
        for item in items:
            try:
                now = self._clock()
                await self._catalog.work.fail(item, reason="the worker was stopped", now=now, retry_at=now)
            except PlumblineError as error:  # done already, or taken over
                log.debug("item_not_given_back", document_id=item.document_id, reason=error.message)

    async def _wait_for_the_bell(self) -> None:
        try:
            async with asyncio.timeout(self._poll_s):
                await self._bell.wait()
        except TimeoutError:
            return

    async def _apply_by_collection(self, items: Sequence[WorkItem]) -> None:
        by_collection: dict[str, list[WorkItem]] = defaultdict(list)
        for item in items:
            by_collection[item.collection].append(item)
        async with self._kept(items):
            for of_one in by_collection.values():
                await self._apply(of_one)

    @asynccontextmanager
    async def _kept(self, items: Sequence[WorkItem]) -> AsyncIterator[None]:
        """Hold the leases of `items` until the block ends."""

        async def renew() -> None:
            while True:
                await asyncio.sleep(self._lease_s / 3)
                for item in items:
                    try:
                        await self._catalog.work.renew(item, now=self._clock(), lease_s=self._lease_s)
                    except PlumblineError as error:  # done already, or lost: its commit will tell
                        log.debug("lease_not_renewed", document_id=item.document_id, reason=error.message)

        renewing = asyncio.ensure_future(renew())
        try:
            yield
        finally:
            renewing.cancel()
            await asyncio.gather(renewing, return_exceptions=True)

    async def _apply(self, items: Sequence[WorkItem]) -> None:
        """Apply items of one collection together; when that fails, one by one, so that none fails for another."""
        try:
            outcomes = await self._pipeline.apply(items)
        except Exception as error:
            if len(items) == 1:
                await self._failed(items[0], error)
                return
            for item in items:
                await self._apply([item])
            return
        for outcome in outcomes:
            self._metrics.documents.labels(outcome.value).inc()

    async def _failed(self, item: WorkItem, error: Exception) -> None:
        if isinstance(error, Conflict):
            # The lease is lost or a generation began meanwhile: whoever holds the item next applies it.
            log.info("item_given_back", document_id=item.document_id, reason=error.message)
            retry_at: float | None = self._clock()
        elif will_pass(error) or (
            not isinstance(error, InvalidInput | NotFound) and item.attempts < MAX_ATTEMPTS_AFTER_FAULT
        ):
            retry_at = self._clock() + pause_s(item.attempts)
        else:
            retry_at = None
        reason = reason_for(error, item.document_id, item.attempts)
        if retry_at is None:
            log.warning("document_failed", collection=item.collection, document_id=item.document_id, reason=reason)
            self._metrics.documents.labels(Outcome.FAILED.value).inc()
        else:
            self._metrics.retries.inc()
        try:
            await self._catalog.work.fail(item, reason=reason, now=self._clock(), retry_at=retry_at)
        except Conflict as lost:
            log.info("lease_lost", document_id=item.document_id, reason=lost.message)
