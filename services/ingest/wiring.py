"""Builds the ingest service."""

import asyncio
import os
import sys
import time
import uuid
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import structlog

from services.ingest.accepting import Acceptance
from services.ingest.adapters.embedding_service import EmbeddingService
from services.ingest.adapters.parsers.by_media_type import parse
from services.ingest.adapters.record_file import RecordFile
from services.ingest.adapters.search_service import SearchService
from services.ingest.builder import Builder
from services.ingest.bulk import Bulk
from services.ingest.collections import CollectionKeeper
from services.ingest.domain.blocks import ParsedDocument
from services.ingest.garbage import Garbage
from services.ingest.gate import Gate
from services.ingest.generation_writer import GenerationWriter
from services.ingest.generations import GenerationKeeper
from services.ingest.maintenance import Maintenance
from services.ingest.metrics import IngestMetrics
from services.ingest.pipeline import ApplyPipeline
from services.ingest.servicer import SERVICE, IngestServicer
from services.ingest.settings import IngestSettings
from services.ingest.worker import SMALL_BYTES, Worker
from services.shared.blobs.blob_store import BlobStore
from services.shared.catalog.catalog import Catalog
from services.shared.clients.embedding import EmbeddingClient
from services.shared.clients.search import SearchClient
from services.shared.index.opening import open_index
from services.shared.index.port import Index
from services.shared.runtime.server import App, Closable
from services.shared.runtime.telemetry import Telemetry

log = structlog.get_logger()

# What an upload has not touched for so long, it never will.
_LONGEST_UPLOAD = timedelta(hours=1)


@dataclass(frozen=True, slots=True)
class Stores:
    """The stores and the embedding service, open, and what writes into the index with them."""

    catalog: Catalog
    blobs: BlobStore
    index: Index
    client: EmbeddingClient
    embedder: EmbeddingService
    writer: GenerationWriter
    metrics: IngestMetrics

    @property
    def closables(self) -> Sequence[Closable]:
        """What is to be closed, in reverse order."""
        return (self.catalog, self.index, self.client)


async def open_stores(settings: IngestSettings, telemetry: Telemetry) -> Stores:
    """Catalog, originals and index, and a client of the embedding service, which is not called yet."""
    metrics = IngestMetrics(telemetry.registry)
    catalog = await Catalog.open(settings.catalog_url.get_secret_value())
    blobs = BlobStore(settings.blobs_url, max_bytes=settings.max_document_bytes)
    index = await open_index(settings)
    client = EmbeddingClient(settings.embedding_target, telemetry, metrics.rpc)
    embedder = EmbeddingService(
        client,
        batch_texts=settings.embed_batch_texts,
        embed_timeout_s=settings.embed_timeout_s,
        describe_timeout_s=settings.describe_timeout_s,
    )
    writer = GenerationWriter(blobs, _parse_in_a_thread, embedder, index, metrics)
    return Stores(catalog, blobs, index, client, embedder, writer, metrics)


@asynccontextmanager
async def stores(settings: IngestSettings, telemetry: Telemetry) -> AsyncIterator[Stores]:
    """The stores until the block ends, for a command that is no service."""
    opened = await open_stores(settings, telemetry)
    try:
        yield opened
    finally:
        for closable in reversed(opened.closables):
            await closable.close()


async def build(settings: IngestSettings, telemetry: Telemetry) -> App:
    """Catalog, originals and index of one machine, the embedding service, and the workers."""
    opened = await open_stores(settings, telemetry)
    catalog, blobs, index, metrics = opened.catalog, opened.blobs, opened.index, opened.metrics
    maintenance = Maintenance(catalog, index, every_s=settings.optimize_every_s)
    process = _process_name()
    workers = _workers(settings, opened, process)
    builder = Builder(
        f"{process}-builder", catalog, opened.writer,
        batch_documents=settings.batch_documents, lease_s=settings.lease_s, poll_s=settings.poll_s, clock=time.time,
    )  # fmt: skip

    acceptance = _acceptance(settings, opened, workers)
    garbage = Garbage(catalog, blobs, index, keep_s=settings.keep_unnamed_s, clock=time.time)
    keeper = CollectionKeeper(catalog, index, opened.embedder, model=settings.model, clock=time.time)
    search = SearchClient(settings.search_target, telemetry, metrics.rpc) if settings.search_target else None
    searcher = SearchService(search, timeout_s=settings.search_timeout_s) if search else None
    generations = GenerationKeeper(
        catalog, index, opened.embedder, Gate(catalog, searcher), clock=time.time, on_start=builder.ring
    )
    servicer = IngestServicer(catalog, keeper, acceptance, generations, clock=time.time)

    async def become_ready() -> None:
        for generation_id in await catalog.terms.missing():
            # Search does without the keyword gate, completed scores and coverage there.
            log.warning("generation_without_term_statistics", generation_id=generation_id)
        await index.generations()
        await blobs.sweep_incoming(before=datetime.now(UTC) - _LONGEST_UPLOAD)

    return App(
        register=servicer.add_to,
        services=[SERVICE],
        metrics=metrics.rpc,
        become_ready=become_ready,
        background=[*(worker.run for worker in workers), builder.run, maintenance.run, garbage.run],
        closables=[*opened.closables, *([search] if search else [])],
    )


@asynccontextmanager
async def bulk(settings: IngestSettings, opened: Stores) -> AsyncIterator[Bulk]:
    """What loads shards, and workers that apply them until the block ends; what they hold then is given back.

    The embedded index is kept up as well: while one process writes to it, no service does.
    """
    workers = _workers(settings, opened, f"{_process_name()}-bulk")
    upkeep = Maintenance(opened.catalog, opened.index, every_s=settings.optimize_every_s)
    loops = [*(worker.run for worker in workers), *([upkeep.run] if settings.index_folder else [])]
    running = [asyncio.ensure_future(loop()) for loop in loops]
    for one in running:
        one.add_done_callback(_ends(asyncio.current_task()))
    try:
        yield Bulk(opened.catalog, _acceptance(settings, opened, workers))
    finally:
        for one in running:
            one.cancel()
        for end in await asyncio.gather(*running, return_exceptions=True):
            if isinstance(end, Exception):
                raise end


def _ends(task: "asyncio.Task[Any] | None") -> Callable[["asyncio.Future[None]"], None]:
    """Tells `task` to end when a loop has failed: it would wait for ever for what nobody applies."""

    def end(loop: "asyncio.Future[None]") -> None:
        if task and not loop.cancelled() and loop.exception():
            task.cancel()

    return end


def record_file(settings: IngestSettings, address: str) -> RecordFile:
    """The file at this address."""
    return RecordFile(address, max_bytes=settings.max_document_bytes)


def _workers(settings: IngestSettings, opened: Stores, process: str) -> list[Worker]:
    pipeline = ApplyPipeline(opened.catalog, opened.writer, clock=time.time)
    return [
        Worker(
            f"{process}-{number}", opened.catalog, pipeline, opened.metrics,
            batch_documents=settings.batch_documents,
            max_bytes_each=SMALL_BYTES if 1 < number == settings.workers else sys.maxsize,
            lease_s=settings.lease_s, poll_s=settings.poll_s, clock=time.time,
        )
        for number in range(1, settings.workers + 1)
    ]  # fmt: skip


def _acceptance(settings: IngestSettings, opened: Stores, workers: Sequence[Worker]) -> Acceptance:
    def ring() -> None:
        for worker in workers:
            worker.ring()

    return Acceptance(
        opened.catalog, opened.blobs, opened.metrics,
        max_waiting_documents=settings.max_waiting_documents, clock=time.time, on_accept=ring,
    )  # fmt: skip


def _process_name() -> str:
    return f"{os.getpid()}-{uuid.uuid4().hex[:8]}"


async def _parse_in_a_thread(original: bytes, media_type: str) -> ParsedDocument:
    return await asyncio.to_thread(parse, original, media_type)
