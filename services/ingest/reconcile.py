"""Reconciling the stores after a restore: the index is brought to what the catalog says, from the originals.

The catalog is right by definition: what it does not know was accepted after its backup and is lost with it. Chunks that
are missing are embedded and written, chunks of another revision are written anew, chunks that nobody knows are deleted.
Nothing else may write meanwhile: ingest is stopped. A second run finds nothing to do, unless an original is lost.
"""

from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass, field

import structlog

from services.ingest.failure import reason_for, will_pass
from services.ingest.generation_writer import GenerationWriter, Held, Revision
from services.shared.blobs.blob_store import PREFIXES, BlobStore
from services.shared.catalog.catalog import Catalog
from services.shared.catalog.collections import Collection
from services.shared.catalog.inventory import Holding, Original
from services.shared.catalog.manifest import Generation
from services.shared.index.chunk import ChunkKey
from services.shared.index.port import Index
from services.shared.runtime.errors import Conflict, NotFound

log = structlog.get_logger()

_DOCUMENTS_PER_PAGE = 500
_DOCUMENTS_PER_WRITE = 32


@dataclass(frozen=True, slots=True)
class Unmended:
    """A document that could not be brought to what the catalog says, and why."""

    document_id: str
    reason: str


@dataclass(slots=True)
class GenerationReport:
    """What was found in one generation and done about it; in a dry run nothing was done.

    `stale_chunks` are of another revision than the document's. `rechunked` are documents that now become other chunks
    than when they were applied, because ingest is of another version; the generation has no term statistics then.
    """

    collection: str
    generation_id: str
    documents: int = 0
    chunks: int = 0
    missing_chunks: int = 0
    stale_chunks: int = 0
    orphan_chunks: int = 0
    mended_documents: int = 0
    rechunked: int = 0
    unmended: list[Unmended] = field(default_factory=list)

    @property
    def is_clean(self) -> bool:
        """Catalog and index agreed from the beginning."""
        return not (self.missing_chunks or self.stale_chunks or self.orphan_chunks or self.unmended)


@dataclass(frozen=True, slots=True)
class Report:
    """What a run found. `unknown_generations` are indexes that no generation of the catalog names; `waiting` are
    accepted changes that ingest applies when it runs again.
    """

    generations: tuple[GenerationReport, ...]
    unknown_generations: tuple[str, ...]
    missing_originals: tuple[Original, ...]
    waiting: int

    @property
    def is_clean(self) -> bool:
        """The stores agreed from the beginning."""
        agreed = all(one.is_clean for one in self.generations)
        return agreed and not self.unknown_generations and not self.missing_originals

    @property
    def is_mended(self) -> bool:
        """Nothing is left that needs a person; of a run that was not dry."""
        return not self.missing_originals and not any(one.unmended for one in self.generations)


class Reconciliation:
    """One run over all collections; a `dry_run` only looks."""

    def __init__(
        self,
        catalog: Catalog,
        blobs: BlobStore,
        index: Index,
        writer: GenerationWriter,
        *,
        dry_run: bool,
        clock: Callable[[], float],
    ) -> None:
        self._catalog = catalog
        self._blobs = blobs
        self._index = index
        self._writer = writer
        self._dry_run = dry_run
        self._clock = clock

    async def run(self) -> Report:
        """Compare and mend.

        Raises Conflict when ingest is at work or the catalog is empty beside an index that is not, and
        DependencyUnavailable when a store or embedding does not answer; what was mended stands.
        """
        if busy := await self._catalog.inventory.being_applied(now=self._clock()):
            raise Conflict(f"ingest applies {busy} documents at this moment; stop it, or wait until their leases end")
        collections = await self._catalog.collections.list()
        indexes = set(await self._index.generations())
        if indexes and not collections:
            raise Conflict("the catalog has no collection but the index has chunks; is this the right catalog?")
        known, _ = await self._catalog.generations.ids()
        missing_originals = [original async for original in self._missing_originals()]
        reports = [
            await self._generation(collection, generation, is_there=generation.id in indexes)
            for collection in collections
            for generation in await self._catalog.generations.live(collection.declaration.name)
        ]
        unknown = sorted(indexes - known)
        for generation_id in () if self._dry_run else unknown:
            await self._index.drop_generation(generation_id)
        waiting = await self._catalog.work.waiting()
        return Report(tuple(reports), tuple(unknown), tuple(missing_originals), waiting)

    async def _missing_originals(self) -> AsyncIterator[Original]:
        for prefix in PREFIXES:
            named = await self._catalog.inventory.originals(prefix)
            stored = set(await self._blobs.digests(prefix)) if named else set()
            for original in named:
                # One that was set aside as garbage after the backup is put back by asking for it.
                if original.blob not in stored and not await self._blobs.exists(original.blob):
                    yield original

    async def _generation(self, collection: Collection, generation: Generation, *, is_there: bool) -> GenerationReport:
        report = GenerationReport(collection.declaration.name, generation.id)
        if not self._dry_run:
            manifest, fields = generation.manifest, collection.declaration.fields
            await self._index.create_generation(
                generation.id, manifest.dimensions, fields, precision=manifest.precision
            )
            is_there = True
        await self._write_missing(generation, report, is_there=is_there)
        if is_there:
            await self._mend_what_is_there(generation, report)
        if not self._dry_run and not report.is_clean:
            await self._index.optimize(generation.id)
        return report

    async def _write_missing(self, generation: Generation, report: GenerationReport, *, is_there: bool) -> None:
        """From the catalog to the index: chunks that are not there."""
        after: str | None = ""
        while after is not None:
            page = await self._catalog.inventory.holdings(generation.id, after=after, limit=_DOCUMENTS_PER_PAGE)
            after = page[-1].document_id if len(page) == _DOCUMENTS_PER_PAGE else None
            wanted = [chunk_id for holding in page for chunk_id in holding.chunk_ids]
            there = await self._index.existing(generation.id, wanted) if is_there and wanted else set()
            report.documents += len(page)
            report.chunks += len(wanted)
            report.missing_chunks += len(wanted) - len(there)
            await self._mend(
                [holding for holding in page if not there.issuperset(holding.chunk_ids)], generation, report
            )

    async def _mend_what_is_there(self, generation: Generation, report: GenerationReport) -> None:
        """From the index to the catalog: chunks that nobody knows, and chunks of another revision."""
        mended: set[str] = set()
        async for keys in self._index.scan(generation.id):
            for start in range(0, len(keys), _DOCUMENTS_PER_PAGE):
                await self._compare(keys[start : start + _DOCUMENTS_PER_PAGE], generation, report, mended)

    async def _compare(
        self, keys: Sequence[ChunkKey], generation: Generation, report: GenerationReport, mended: set[str]
    ) -> None:
        ids = sorted({key.document_id for key in keys})
        held = await self._catalog.inventory.holdings_of(generation.id, ids)
        chunks_of = {document_id: set(holding.chunk_ids) for document_id, holding in held.items()}
        orphans = [key.chunk_id for key in keys if key.chunk_id not in chunks_of.get(key.document_id, ())]
        known = [key for key in keys if key.chunk_id in chunks_of.get(key.document_id, ())]
        stale = [key.document_id for key in known if key.revision != held[key.document_id].revision]
        report.orphan_chunks += len(orphans)
        report.stale_chunks += len(stale)
        to_mend = sorted(set(stale) - mended)
        mended.update(to_mend)
        # Before the orphans go, so that no search in between finds nothing of a document.
        await self._mend([held[document_id] for document_id in to_mend], generation, report)
        if orphans and not self._dry_run:
            await self._index.delete(generation.id, orphans)

    async def _mend(self, holdings: Sequence[Holding], generation: Generation, report: GenerationReport) -> None:
        if self._dry_run:
            return
        for start in range(0, len(holdings), _DOCUMENTS_PER_WRITE):
            await self._mend_together(holdings[start : start + _DOCUMENTS_PER_WRITE], generation, report)

    async def _mend_together(
        self, holdings: Sequence[Holding], generation: Generation, report: GenerationReport
    ) -> None:
        """Mend documents in one write; when that fails, one by one, so that none stays for another."""
        try:
            revisions = [await self._revision(holding, generation) for holding in holdings]
            written = await self._writer.write(revisions, generation)
            for holding, now_held in zip(holdings, written, strict=True):
                await self._keep_in_step(holding, now_held, generation, report)
        except Exception as error:
            if will_pass(error):
                raise
            if len(holdings) > 1:
                for holding in holdings:
                    await self._mend_together([holding], generation, report)
                return
            document_id = holdings[0].document_id
            report.unmended.append(Unmended(document_id, reason_for(error, document_id, 1)))
            return
        report.mended_documents += len(holdings)

    async def _revision(self, holding: Holding, generation: Generation) -> Revision:
        document = await self._catalog.documents.at_revision(
            generation.collection, holding.document_id, holding.revision
        )
        try:
            return await self._writer.read(holding.document_id, holding.revision, document.content)
        except NotFound:
            raise NotFound("its original is missing; put the document again") from None

    async def _keep_in_step(
        self, holding: Holding, held: Held, generation: Generation, report: GenerationReport
    ) -> None:
        if held.chunk_ids != holding.chunk_ids:
            await self._catalog.inventory.correct(generation.id, holding, held.chunk_ids)
            log.warning("document_rechunked", generation_id=generation.id, document_id=holding.document_id)
            report.rechunked += 1
