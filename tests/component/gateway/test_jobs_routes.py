"""`/v1/jobs`: read from the catalog, watched and cancelled through ingest."""

import pytest

from plumbline.ingest.v1 import ingest_pb2
from services.shared.runtime.errors import NotFound
from tests.component.gateway.house import House, assert_problem, read_events

pytestmark = pytest.mark.asyncio(loop_scope="module")


def job(state: int, done: int) -> ingest_pb2.Job:
    return ingest_pb2.Job(
        job_id="j9",
        collection="papers",
        state=state,
        total=2,
        done=done,
        outcomes=ingest_pb2.Outcomes(embedded=done),
        failures=[ingest_pb2.DocumentFailure(document_id="d", reason="empty")] if done == 2 else [],
    )


async def test_a_job_has_the_shape_that_clients_rely_on(own_house: House) -> None:
    await own_house.accept("a", "b")
    assert (await own_house.http.get("/v1/jobs/j1")).json() == {
        "job_id": "j1",
        "collection": "papers",
        "state": "queued",
        "total": 2,
        "done": 0,
        "outcomes": {"reused": 0, "embedded": 0, "deleted": 0, "failed": 0},
        "failures": [],
    }


async def test_jobs_are_listed_newest_first_and_by_collection(own_house: House) -> None:
    await own_house.accept("a", job_id="j1")
    await own_house.accept("b", job_id="j2")
    listed = (await own_house.http.get("/v1/jobs", params={"collection": "papers", "limit": 1})).json()["jobs"]
    assert len(listed) == 1
    assert (await own_house.http.get("/v1/jobs", params={"collection": "none"})).json() == {"jobs": []}


async def test_an_unknown_job_is_404(house: House) -> None:
    assert_problem(await house.http.get("/v1/jobs/none"), 404, field="job_id")


async def test_progress_is_told_until_the_job_has_ended(house: House) -> None:
    house.ingest.progress = [
        job(ingest_pb2.JOB_STATE_QUEUED, 0),
        job(ingest_pb2.JOB_STATE_RUNNING, 1),
        job(ingest_pb2.JOB_STATE_SUCCEEDED, 2),
    ]
    events = read_events((await house.http.get("/v1/jobs/j9/events")).text)
    assert [(name, data["state"], data["done"]) for name, data in events] == [
        ("job", "queued", 0),
        ("job", "running", 1),
        ("done", "succeeded", 2),
    ]
    assert events[-1][1]["failures"] == [{"document_id": "d", "reason": "empty"}]


async def test_progress_of_an_unknown_job_is_404(house: House) -> None:
    house.ingest.script.error = NotFound("job 'none' does not exist", field="job_id")
    assert_problem(await house.http.get("/v1/jobs/none/events"), 404, field="job_id")


async def test_a_cancelled_job_is_shown_as_it_is_then(house: House) -> None:
    response = await house.http.delete("/v1/jobs/j9")
    assert (response.status_code, response.json()["state"]) == (200, "cancelled")
    assert house.ingest.script.requests == [ingest_pb2.CancelJobRequest(job_id="j9")]
