"""The worker: claims accepted changes under a lease, has them applied, and says how each ended."""

import asyncio
import uuid
from collections import defaultdict
from collections.abc import Callable, Sequence
from functools import partial

import structlog

from services.ingest.failure import pause_before_retry_s, reason_for
from services.ingest.leased_batches import Bell, held, repeat, together_or_alone, until_answered
from services.ingest.metrics import IngestMetrics
from services.ingest.pipeline import ApplyPipeline
from services.shared.catalog.acceptance import Outcome
from services.shared.catalog.catalog import Catalog
from services.shared.catalog.work_item import WorkItem
from services.shared.runtime.errors import Conflict, PlumblineError

log = structlog.get_logger()

# What a batch takes before others get their turn: at 8,000 tokens a second and 4 bytes a token, half a minute.
_BATCH_BYTES = 1024 * 1024
SMALL_BYTES = 256 * 1024
"""The largest original of a small document: eight seconds of such work."""


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
        self._bell = Bell()

    def ring(self) -> None:
        """Tell the worker that something was accepted, so that it looks at once."""
        self._bell.ring()

    async def run(self) -> None:
        """Apply what is accepted, for ever."""
        await repeat(self._apply_next, self._bell, poll_s=self._poll_s)

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

    async def _apply_by_collection(self, items: Sequence[WorkItem]) -> None:
        by_collection: dict[str, list[WorkItem]] = defaultdict(list)
        for item in items:
            by_collection[item.collection].append(item)
        async with held(partial(self._renew, items), lease_s=self._lease_s):
            for of_one in by_collection.values():
                await together_or_alone(of_one, self._apply, self._apply_alone, self._failed)

    async def _renew(self, items: Sequence[WorkItem]) -> None:
        await self._catalog.work.renew(items, now=self._clock(), lease_s=self._lease_s)

    async def _apply(self, items: Sequence[WorkItem], *, cut_off: bool = False) -> None:
        for outcome in await self._pipeline.apply(items, cut_off=cut_off):
            self._metrics.documents.labels(outcome.value).inc()

    async def _apply_alone(self, item: WorkItem) -> None:
        """Apply one item of a batch that failed. Raises Conflict when that was because its lease is lost."""
        await self._catalog.work.require_held([item])
        await self._apply([item], cut_off=True)

    async def _failed(self, item: WorkItem, error: Exception) -> None:
        pause_s = pause_before_retry_s(error, item.attempts)
        if isinstance(error, Conflict):
            # The lease is lost or a generation began meanwhile: whoever holds the item next applies it.
            log.info("item_given_back", document_id=item.document_id, reason=error.message)
        reason = reason_for(error, item.document_id, item.attempts)
        if pause_s is None:
            log.warning("document_failed", collection=item.collection, document_id=item.document_id, reason=reason)
            self._metrics.documents.labels(Outcome.FAILED.value).inc()
        else:
            self._metrics.retries.inc()
        await until_answered(partial(self._say_how_it_failed, item, reason, pause_s))

    async def _say_how_it_failed(self, item: WorkItem, reason: str, pause_s: float | None) -> None:
        """Give the item back; when somebody else has it by now, what this attempt wrote may stand over theirs."""
        now = self._clock()
        try:
            retry_at = None if pause_s is None else now + pause_s
            await self._catalog.work.fail(item, reason=reason, now=now, retry_at=retry_at)
        except Conflict as lost:
            log.warning("lease_lost", document_id=item.document_id, reason=lost.message)
            await self._catalog.repairs.apply_again(item.collection, item.document_id, job_id=uuid.uuid4().hex, now=now)
