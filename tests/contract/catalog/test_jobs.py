import asyncio
from typing import Any

import pytest

from services.shared.catalog.acceptance import Outcome
from services.shared.catalog.catalog import Catalog
from services.shared.catalog.documents import Delete, Refused
from services.shared.catalog.jobs import Failure, JobState, Outcomes
from services.shared.runtime.errors import Internal, NotFound
from tests.contract.catalog.examples import a_collection, a_page, accept, apply_all, claim


async def test_accepted_documents_wait_in_their_order_under_rising_numbers(catalog: Catalog) -> None:
    job = await accept(catalog, a_page("b"), a_page("a"), Delete("b"))

    assert (job.state, job.total, job.done) == (JobState.QUEUED, 3, 0)
    items = [*await claim(catalog, limit=10)]
    assert [(item.document_id, item.action, item.revision) for item in items] == [("b", "put", 1), ("a", "put", 2)]
    assert (await catalog.collections.get("pages")).sequence == 3


async def test_numbers_go_on_over_jobs_and_are_counted_per_collection(catalog: Catalog) -> None:
    await a_collection(catalog, "other", generation_id="o1")
    await accept(catalog, a_page("a"), a_page("b"), job_id="first")
    await catalog.jobs.accept("other", [a_page("a")], job_id="second", now=10.0)
    await accept(catalog, a_page("c"), job_id="third")

    revisions = [(item.collection, item.revision) for item in await claim(catalog, limit=10)]
    assert revisions == [("pages", 1), ("pages", 2), ("other", 1), ("pages", 3)]


async def test_numbers_are_never_given_twice_to_writers_side_by_side(catalog: Catalog, second_catalog: Catalog) -> None:
    writers = [catalog, second_catalog] * 10
    await asyncio.gather(
        *(accept(one, a_page(f"p{n}"), a_page("same"), job_id=f"j{n}") for n, one in enumerate(writers))
    )

    assert (await catalog.collections.get("pages")).sequence == 40
    revisions = []
    while items := await claim(catalog, limit=50):
        revisions += [item.revision for item in items]
        for item in items:
            await catalog.work.fail(item, reason="enough", now=20.0, retry_at=None)
    assert sorted(revisions) == list(range(1, 41))


async def test_failure_half_way_through_accepting_leaves_nothing(catalog: Catalog) -> None:
    nameless = a_page("second", content_digest=None)  # refused by the table, after the job and the first are written

    with pytest.raises(Internal, match="refused a statement"):
        await accept(catalog, a_page("first"), nameless)

    assert await catalog.jobs.list(collection=None, limit=10) == ()
    assert await claim(catalog) == []
    assert (await catalog.documents.list("pages", after=None, limit=10)).documents == ()
    assert (await catalog.collections.get("pages")).sequence == 0
    assert (await accept(catalog, a_page("first"))).total == 1


async def test_errors_of_the_database_never_show_what_was_to_be_stored(catalog: Catalog) -> None:
    with pytest.raises(Internal) as refused:
        await accept(catalog, a_page("p", title="a secret title", content_digest=None))

    shown = f"{refused.value} {refused.value.__cause__}"
    assert "put_has_original" in shown
    assert "secret" not in shown


async def test_no_changes_are_a_job_that_has_succeeded(catalog: Catalog) -> None:
    assert (await accept(catalog)).state is JobState.SUCCEEDED


async def test_applied_document_put_again_unchanged_is_reused_at_once(catalog: Catalog) -> None:
    await accept(catalog, a_page(), job_id="first")
    await apply_all(catalog)

    again = await accept(catalog, a_page(blob="c" * 64), job_id="second")

    assert (again.state, again.outcomes) == (JobState.SUCCEEDED, Outcomes(reused=1))
    assert (await catalog.collections.get("pages")).sequence == 1
    assert await claim(catalog) == []


@pytest.mark.parametrize(
    "change",
    [{"metadata": {"year": 2025}}, {"title": "Other"}, {"date": None}, {"uri": None}, {"content_digest": "d" * 64}],
)
async def test_document_put_again_with_a_difference_is_a_new_revision(catalog: Catalog, change: dict[str, Any]) -> None:
    await accept(catalog, a_page(), job_id="first")
    await apply_all(catalog)

    assert (await accept(catalog, a_page(**change), job_id="second")).done == 0
    assert (await catalog.documents.get("pages", "page")).revision == 2


async def test_unchanged_document_is_not_reused_before_its_first_put_is_applied(catalog: Catalog) -> None:
    await accept(catalog, a_page(), job_id="first")

    assert (await accept(catalog, a_page(), job_id="second")).done == 0


async def test_unchanged_document_is_tried_again_after_it_failed(catalog: Catalog) -> None:
    await accept(catalog, a_page(), job_id="first")
    (item,) = await claim(catalog)
    await catalog.work.fail(item, reason="not parsed", now=20.0, retry_at=None)

    assert (await accept(catalog, a_page(), job_id="second")).done == 0


async def test_delete_of_an_unknown_document_is_an_outcome(catalog: Catalog) -> None:
    job = await accept(catalog, Delete("never seen"))

    assert (job.state, job.outcomes) == (JobState.SUCCEEDED, Outcomes(deleted=1))


async def test_second_delete_waits_until_the_first_is_applied(catalog: Catalog) -> None:
    await accept(catalog, a_page(), job_id="put")
    await apply_all(catalog)
    await accept(catalog, Delete("page"), job_id="first")

    assert (await accept(catalog, Delete("page"), job_id="second")).done == 0
    await apply_all(catalog)
    assert (await accept(catalog, Delete("page"), job_id="third")).outcomes == Outcomes(deleted=1)


async def test_same_key_within_a_day_returns_the_first_job(catalog: Catalog) -> None:
    async def with_key(job_id: str, now: float, key: str | None) -> str:
        job = await catalog.jobs.accept("pages", [a_page()], job_id=job_id, now=now, idempotency_key=key)
        return job.id

    assert await with_key("j1", 10.0, "key") == "j1"
    assert await with_key("j2", 86_409.0, "key") == "j1"
    assert await with_key("j3", 86_411.0, "key") == "j3"
    assert await with_key("j4", 86_412.0, "other") == "j4"
    assert await with_key("j5", 86_413.0, None) == "j5"
    assert await with_key("j6", 86_414.0, None) == "j6"


async def test_job_runs_from_its_first_claim_and_succeeds_with_its_last_document(catalog: Catalog) -> None:
    await accept(catalog, a_page("a"), a_page("b"))
    await claim(catalog)
    assert (await catalog.jobs.get("job")).state is JobState.RUNNING

    for item in await claim(catalog, now=1000.0, limit=5):
        await catalog.work.commit_applied(item, chunk_ids={"g1": []}, outcome=Outcome.EMBEDDED, now=1001.0)

    job = await catalog.jobs.get("job")
    assert (job.state, job.done, job.outcomes) == (JobState.SUCCEEDED, 2, Outcomes(embedded=2))
    assert (job.created_at, job.updated_at) == (10.0, 1001.0)


async def test_job_succeeds_with_some_failures_and_lists_them_in_order(catalog: Catalog) -> None:
    await accept(catalog, a_page("c"), a_page("b"), a_page("a"))
    first, second, third = await claim(catalog, limit=3)
    await catalog.work.fail(third, reason="third reason", now=20.0, retry_at=None)
    await catalog.work.fail(first, reason="first reason", now=20.0, retry_at=None)
    await catalog.work.commit_applied(second, chunk_ids={"g1": []}, outcome=Outcome.REUSED, now=21.0)

    job = await catalog.jobs.get("job")
    assert (job.state, job.outcomes) == (JobState.SUCCEEDED, Outcomes(reused=1, failed=2))
    failures = await catalog.jobs.failures("job", limit=10)
    assert failures == (Failure("c", "first reason"), Failure("a", "third reason"))
    assert await catalog.jobs.failures("job", limit=1) == failures[:1]


async def test_what_could_not_be_read_is_a_failure_beside_its_neighbours(catalog: Catalog) -> None:
    job = await accept(catalog, Refused("papers.jsonl#1", "not JSON"), a_page("a"))

    assert (job.state, job.total, job.outcomes) == (JobState.QUEUED, 2, Outcomes(failed=1))
    assert await catalog.jobs.failures("job", limit=10) == (Failure("papers.jsonl#1", "not JSON"),)
    assert [item.document_id for item in await claim(catalog, limit=10)] == ["a"]
    assert await catalog.work.waiting() == 1


async def test_job_fails_when_every_document_failed(catalog: Catalog) -> None:
    await accept(catalog, a_page("a"), a_page("b"))
    for item in await claim(catalog, limit=2):
        await catalog.work.fail(item, reason="no text", now=20.0, retry_at=None)

    assert (await catalog.jobs.get("job")).state is JobState.FAILED


async def test_jobs_are_listed_newest_first(catalog: Catalog) -> None:
    await a_collection(catalog, "other", generation_id="o1")
    await accept(catalog, a_page("a"), job_id="old", now=10.0)
    await accept(catalog, a_page("b"), job_id="new", now=11.0)
    await catalog.jobs.accept("other", [a_page()], job_id="elsewhere", now=12.0)

    async def listed(collection: str | None, limit: int) -> list[str]:
        return [job.id for job in await catalog.jobs.list(collection=collection, limit=limit)]

    assert await listed(None, 10) == ["elsewhere", "new", "old"]
    assert await listed("pages", 10) == ["new", "old"]
    assert await listed("pages", 1) == ["new"]


async def test_unknown_job_is_not_found(catalog: Catalog) -> None:
    for call in (catalog.jobs.get("nothing"), catalog.jobs.cancel("nothing", now=1.0)):
        with pytest.raises(NotFound) as missing:
            await call
        assert missing.value.field == "job_id"


async def test_cancel_takes_back_what_has_not_begun_and_finishes_what_has(catalog: Catalog) -> None:
    await accept(catalog, a_page("kept"), job_id="before")
    await apply_all(catalog)
    await accept(catalog, a_page("begun"), a_page("kept", title="New title"), Delete("kept"), a_page("new"))
    (begun,) = await claim(catalog)

    cancelled = await catalog.jobs.cancel("job", now=25.0)
    await catalog.work.commit_applied(begun, chunk_ids={"g1": ["c3"]}, outcome=Outcome.EMBEDDED, now=26.0)

    assert cancelled.state is JobState.CANCELLED
    assert await claim(catalog, now=1e9) == []
    job = await catalog.jobs.get("job")
    assert (job.state, job.total, job.done) == (JobState.CANCELLED, 4, 1)
    page = await catalog.documents.list("pages", after=None, limit=10)
    assert [(document.id, document.content.title) for document in page.documents] == [
        ("begun", "A page"),
        ("kept", "A page"),
    ]
    assert (await catalog.collections.get("pages")).lag == 0


async def test_cancelled_changes_leave_no_lag(catalog: Catalog) -> None:
    await accept(catalog, a_page("a"), a_page("b"))
    await catalog.jobs.cancel("job", now=25.0)

    assert (await catalog.collections.get("pages")).lag == 0


async def test_cancelled_job_stays_cancelled_although_all_of_it_had_begun(catalog: Catalog) -> None:
    await accept(catalog, a_page())
    (item,) = await claim(catalog)
    await catalog.jobs.cancel("job", now=25.0)
    await catalog.work.commit_applied(item, chunk_ids={"g1": ["c1"]}, outcome=Outcome.EMBEDDED, now=26.0)

    job = await catalog.jobs.get("job")
    assert (job.state, job.done) == (JobState.CANCELLED, 1)


async def test_item_given_back_for_another_attempt_is_not_cancelled(catalog: Catalog) -> None:
    await accept(catalog, a_page())
    (item,) = await claim(catalog)
    await catalog.work.fail(item, reason="busy", now=20.0, retry_at=50.0)

    await catalog.jobs.cancel("job", now=25.0)

    assert [again.document_id for again in await claim(catalog, now=50.0)] == ["page"]


async def test_numbers_of_cancelled_changes_are_not_used_again(catalog: Catalog) -> None:
    await accept(catalog, a_page(), job_id="first")
    await catalog.jobs.cancel("first", now=11.0)
    await accept(catalog, a_page(), job_id="second")

    assert (await catalog.documents.get("pages", "page")).revision == 2


async def test_job_that_has_ended_stays_as_it_is_when_cancelled(catalog: Catalog) -> None:
    await accept(catalog, a_page())
    await apply_all(catalog)
    ended = await catalog.jobs.get("job")

    assert await catalog.jobs.cancel("job", now=99.0) == ended
