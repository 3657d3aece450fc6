"""`/v1/jobs`: read from the catalog; watched and cancelled through ingest."""

from collections.abc import AsyncGenerator
from typing import Annotated

from fastapi import APIRouter, Query, Request, Response
from pydantic import BaseModel

from services.gateway.bodies.jobs import ENDED, DocumentFailure, JobList, JobSummary, JobView, Outcomes
from services.gateway.ports import CatalogReader, Ingester
from services.gateway.problems import problem_of_exception
from services.gateway.streaming import begun, event_stream, while_connected
from services.shared.catalog.jobs import Job
from services.shared.runtime.errors import DeadlineExceeded


def job_routes(catalog: CatalogReader, ingester: Ingester) -> APIRouter:
    """Jobs."""
    router = APIRouter(tags=["jobs"])

    @router.get("/v1/jobs")
    async def list_newest(collection: str | None = None, limit: Annotated[int, Query(ge=1, le=1000)] = 50) -> JobList:
        """The newest jobs, of one collection or of all."""
        return JobList(jobs=[_summary(job) for job in await catalog.jobs(collection=collection, limit=limit)])

    @router.get("/v1/jobs/{job_id}")
    async def get(job_id: str) -> JobView:
        """How far a job is."""
        job = await catalog.job(job_id)
        failures = await catalog.failures(job_id) if job.outcomes.failed else ()
        return JobView(
            **_summary(job).model_dump(),
            failures=[DocumentFailure(document_id=one.document_id, reason=one.reason) for one in failures],
        )

    @router.get("/v1/jobs/{job_id}/events", response_model=JobView)
    async def watch(job_id: str, request: Request) -> Response:
        """The job after each change as events `job`; the last one, when it has ended, is `done`."""
        first_is_there = await while_connected(request, begun(ingester.watch(job_id)))
        return event_stream(_named(first_is_there))

    @router.delete("/v1/jobs/{job_id}")
    async def cancel(job_id: str) -> JobView:
        """Cancel what has not begun; a job that has ended stays as it is."""
        return await ingester.cancel(job_id)

    return router


async def _named(jobs: AsyncGenerator[JobView, None]) -> AsyncGenerator[tuple[str, BaseModel], None]:
    try:
        async for job in jobs:
            yield "done" if job.state in ENDED else "job", job
    except DeadlineExceeded:
        return  # the longest stream is over and the job is not: the caller asks again, as after any lost connection
    except Exception as error:
        yield "error", problem_of_exception(error)
    finally:
        await jobs.aclose()


def _summary(job: Job) -> JobSummary:
    outcomes = job.outcomes
    return JobSummary(
        job_id=job.id,
        collection=job.collection,
        state=job.state.value,
        total=job.total,
        done=job.done,
        outcomes=Outcomes(
            reused=outcomes.reused, embedded=outcomes.embedded, deleted=outcomes.deleted, failed=outcomes.failed
        ),
    )
