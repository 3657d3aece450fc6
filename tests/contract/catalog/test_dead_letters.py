"""Changes that failed for good, and their way back."""

from services.shared.catalog.acceptance import Outcome
from services.shared.catalog.catalog import Catalog
from services.shared.catalog.dead_letters import DeadLetter
from services.shared.catalog.documents import Delete, Refused
from services.shared.catalog.jobs import Outcomes
from tests.contract.catalog.examples import a_collection, a_page, accept, apply_all, claim


async def fail_all(catalog: Catalog, *, reason: str = "no text") -> None:
    while items := await claim(catalog):
        await catalog.work.fail(items[0], reason=reason, now=21.0, retry_at=None)


async def letters(catalog: Catalog, collection: str | None = None) -> list[str]:
    return [one.document_id for one in await catalog.dead_letters.list(collection=collection, after=0, limit=10)]


async def test_letter_says_what_failed_and_why(catalog: Catalog) -> None:
    await accept(catalog, a_page("a"))
    (item,) = await claim(catalog)
    await catalog.work.fail(item, reason="asleep", now=20.0, retry_at=20.0)
    await fail_all(catalog, reason="no text")

    assert await catalog.dead_letters.list(collection=None, after=0, limit=10) == (
        DeadLetter(item.id, "job", "pages", "a", revision=1, attempts=2, reason="no text", accepted_at=10.0),
    )


async def test_letters_come_oldest_first_page_by_page_and_by_collection(catalog: Catalog) -> None:
    await a_collection(catalog, "other", generation_id="g-other")
    await accept(catalog, a_page("b"), a_page("a"))
    await catalog.jobs.accept("other", [a_page("c")], job_id="of other", now=11.0)
    await fail_all(catalog)

    assert await letters(catalog) == ["b", "a", "c"]
    assert await letters(catalog, "other") == ["c"]
    (first, second) = await catalog.dead_letters.list(collection=None, after=0, limit=2)
    (third,) = await catalog.dead_letters.list(collection=None, after=second.id, limit=2)
    assert (first.document_id, third.document_id) == ("b", "c")


async def test_document_that_was_changed_since_is_no_dead_letter(catalog: Catalog) -> None:
    await accept(catalog, a_page("replaced"), a_page("deleted"), a_page("waits"))
    await fail_all(catalog)
    await accept(catalog, a_page("replaced", title="Better"), Delete("deleted"), job_id="later")
    await apply_all(catalog)
    await accept(catalog, a_page("waits", title="Better"), job_id="last")

    assert await letters(catalog) == []


async def test_line_that_was_never_a_document_is_no_dead_letter(catalog: Catalog) -> None:
    await accept(catalog, Refused("lines#3", "not JSON"))
    assert await letters(catalog) == []


async def test_retried_letter_is_applied_and_its_job_succeeds(catalog: Catalog) -> None:
    await accept(catalog, a_page("a"), a_page("b"))
    await fail_all(catalog)
    assert (await catalog.jobs.get("job")).state == "failed"
    dead = await catalog.dead_letters.list(collection="pages", after=0, limit=10)

    assert await catalog.dead_letters.retry(dead[:1], now=40.0) == 1

    job = await catalog.jobs.get("job")
    assert (job.state, job.outcomes, job.updated_at) == ("running", Outcomes(failed=1), 40.0)
    assert await letters(catalog) == ["b"]
    assert await claim(catalog, now=39.0) == []
    (item,) = await claim(catalog, now=41.0)
    assert (item.document_id, item.attempts) == ("a", 1)
    await catalog.work.commit_applied(item, chunk_ids={"g1": ["c1"]}, outcome=Outcome.EMBEDDED, now=42.0)
    assert (await catalog.jobs.get("job")).state == "succeeded"
    assert (await catalog.documents.get("pages", "a")).revision == 1


async def test_retry_that_fails_again_is_dead_again_with_the_new_reason(catalog: Catalog) -> None:
    await accept(catalog, a_page("a"))
    await fail_all(catalog, reason="first")
    dead = await catalog.dead_letters.list(collection=None, after=0, limit=10)
    await catalog.dead_letters.retry(dead, now=20.0)

    await fail_all(catalog, reason="second")

    (letter,) = await catalog.dead_letters.list(collection=None, after=0, limit=10)
    assert (letter.reason, letter.attempts) == ("second", 1)
    assert (await catalog.jobs.get("job")).outcomes == Outcomes(failed=1)


async def test_collection_lags_behind_until_a_retried_letter_is_applied(catalog: Catalog) -> None:
    await accept(catalog, a_page("a"))
    await fail_all(catalog)
    assert (await catalog.collections.get("pages")).lag == 0
    dead = await catalog.dead_letters.list(collection=None, after=0, limit=10)

    await catalog.dead_letters.retry(dead, now=20.0)
    assert (await catalog.collections.get("pages")).lag == 1

    await apply_all(catalog)
    assert (await catalog.collections.get("pages")).lag == 0


async def test_letter_that_was_settled_meanwhile_is_not_retried(catalog: Catalog) -> None:
    await accept(catalog, a_page("a"))
    await fail_all(catalog)
    dead = await catalog.dead_letters.list(collection=None, after=0, limit=10)
    await accept(catalog, a_page("a", title="Better"), job_id="later")
    await apply_all(catalog)

    assert await catalog.dead_letters.retry(dead, now=40.0) == 0

    assert await claim(catalog, now=50.0) == []
    assert (await catalog.documents.get("pages", "a")).title == "Better"


async def test_retry_in_a_cancelled_job_leaves_it_cancelled(catalog: Catalog) -> None:
    await accept(catalog, a_page("a"), a_page("b"))
    (item,) = await claim(catalog)
    await catalog.work.fail(item, reason="no text", now=21.0, retry_at=None)
    await catalog.jobs.cancel("job", now=22.0)
    dead = await catalog.dead_letters.list(collection=None, after=0, limit=10)

    await catalog.dead_letters.retry(dead, now=20.0)
    await apply_all(catalog)

    assert (await catalog.jobs.get("job")).state == "cancelled"
    assert (await catalog.documents.get("pages", "a")).chunks == 2
