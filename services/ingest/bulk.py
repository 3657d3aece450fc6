"""Bulk: one shard of a large file of records, accepted and applied by this process.

A record belongs to the shard that its id says, so all lines of one document are of one shard and applied in their
order. There is no state but the catalog: a shard that was killed begins its file anew, and what is stored already is
compared and left as it is, which takes a small share of the time of the first.
"""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import structlog

from services.ingest.accepting import Acceptance
from services.ingest.domain.records import UnreadableRecord, read_record
from services.ingest.domain.shards import Line, portions, shard_of
from services.ingest.progress import watch
from services.shared.catalog.catalog import Catalog
from services.shared.catalog.jobs import Failure, Job
from services.shared.runtime.errors import Overloaded

log = structlog.get_logger()

# Accepted and not yet applied: workers never wait for the next portion, and a stop leaves little half done.
_JOBS_AHEAD = 3
_FAILURES_PER_JOB = 1_000


class Records(Protocol):
    """A file of records."""

    def lines(self) -> Iterator[Line]:
        """Its lines in order; blocks while it reads."""
        ...


@dataclass(frozen=True, slots=True)
class Shard:
    """The part `index`, from 0, of `count`."""

    index: int
    count: int

    def takes(self, line: Line) -> bool:
        """Whether the line is of this shard: by the id of its record, or, when it is none, by its number."""
        number, content = line
        try:
            record = read_record(content)
        except UnreadableRecord:
            return number % self.count == self.index
        return shard_of(record.id or record.uri, self.count) == self.index


@dataclass(slots=True)
class BulkReport:
    """What became of the records of a shard."""

    records: int = 0
    reused: int = 0
    embedded: int = 0
    failed: int = 0
    failures: list[Failure] = field(default_factory=list)

    def add(self, job: Job, failures: Sequence[Failure]) -> None:
        """Count a job that has ended."""
        self.records += job.total
        self.reused += job.outcomes.reused
        self.embedded += job.outcomes.embedded
        self.failed += job.outcomes.failed
        self.failures += failures


class Bulk:
    """Loads shards into a collection while the caller lets workers run."""

    def __init__(self, catalog: Catalog, acceptance: Acceptance) -> None:
        self._catalog = catalog
        self._acceptance = acceptance

    async def load(self, collection: str, records: Records, shard: Shard, *, name: str) -> BulkReport:
        """The report once every record of the shard has ended; `name` stands for the file in failures.

        Raises NotFound for the collection, InvalidInput for the file, DependencyUnavailable when a store does not
        answer: then run it again.
        """
        report = BulkReport()
        ahead: deque[Job] = deque()
        async for portion in _portions_of(records, shard):
            ahead.append(await self._accept(collection, portion, name))
            if len(ahead) == _JOBS_AHEAD:
                await self._end(ahead.popleft(), report)
        while ahead:
            await self._end(ahead.popleft(), report)
        return report

    async def _accept(self, collection: str, portion: Sequence[Line], name: str) -> Job:
        while True:
            try:
                return await self._acceptance.put_records(collection, portion, name=name)
            except Overloaded as full:  # by others: the shard waits for its turn
                await asyncio.sleep(full.retry_after_s or 1.0)

    async def _end(self, job: Job, report: BulkReport) -> None:
        async for progress in watch(self._catalog, job.id):
            job = progress.job
        failures = await self._catalog.jobs.failures(job.id, limit=_FAILURES_PER_JOB) if job.outcomes.failed else ()
        report.add(job, failures)
        log.info("bulk_progress", records=report.records, embedded=report.embedded, failed=report.failed)


async def _portions_of(records: Records, shard: Shard) -> AsyncIterator[list[Line]]:
    """The shard's lines in portions, read in a thread and not before they are asked for."""
    waiting = portions(line for line in records.lines() if shard.takes(line))
    while portion := await asyncio.to_thread(next, waiting, None):
        yield portion
