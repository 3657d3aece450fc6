"""A job's progress as a stream."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass

from services.shared.catalog.catalog import Catalog
from services.shared.catalog.jobs import Failure, Job, JobState

# Often enough for a progress bar; one short read each.
_LOOK_EVERY_S = 0.2
MAX_FAILURES = 100


@dataclass(frozen=True, slots=True)
class Progress:
    """A job and its first failures."""

    job: Job
    failures: tuple[Failure, ...]


async def progress_of(catalog: Catalog, job: Job) -> Progress:
    """`job` with its first 100 failures, if it has any."""
    failures = await catalog.jobs.failures(job.id, limit=MAX_FAILURES) if job.outcomes.failed else ()
    return Progress(job, failures)


async def watch(catalog: Catalog, job_id: str) -> AsyncIterator[Progress]:
    """The job as it is now and after each change, until it has ended. Raises NotFound."""
    seen: Job | None = None
    while True:
        job = await catalog.jobs.get(job_id)
        if job != seen:
            yield await progress_of(catalog, job)
            seen = job
        if job.state in (JobState.SUCCEEDED, JobState.FAILED, JobState.CANCELLED):
            return
        await asyncio.sleep(_LOOK_EVERY_S)
