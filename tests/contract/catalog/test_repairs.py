"""Documents that are applied once more, because an index may hold something else of them."""

from services.shared.catalog.acceptance import Outcome
from services.shared.catalog.catalog import Catalog
from services.shared.catalog.documents import Delete
from tests.contract.catalog.examples import a_page, accept, apply_all, claim


async def apply_again(catalog: Catalog, document_id: str = "page", *, written_to: str | None = None) -> bool:
    return await catalog.repairs.apply_again("pages", document_id, job_id="again", now=40.0, written_to=written_to)


async def test_newest_revision_is_applied_again_in_a_job_of_its_own(catalog: Catalog) -> None:
    await accept(catalog, a_page(title="Old"), job_id="1")
    await accept(catalog, a_page(title="New"), job_id="2")
    await apply_all(catalog)

    assert await apply_again(catalog)

    [item] = await claim(catalog, now=50.0)
    assert (item.job_id, item.document_id, item.action, item.revision) == ("again", "page", "put", 2)
    await catalog.work.commit_applied(item, chunk_ids={"g1": ["c1", "c2"]}, outcome=Outcome.REUSED, now=51.0)
    job = await catalog.jobs.get("again")
    assert (job.state, job.total, job.outcomes.reused) == ("succeeded", 1, 1)
    generation = await catalog.generations.get("g1")
    assert (generation.documents, generation.chunks, generation.applied_sequence) == (1, 2, 2)


async def test_deletion_is_applied_again_as_one(catalog: Catalog) -> None:
    await accept(catalog, a_page(), job_id="1")
    await accept(catalog, Delete("page"), job_id="2")
    await apply_all(catalog)

    assert await apply_again(catalog)

    assert [(item.action, item.revision) for item in await claim(catalog, now=50.0)] == [("delete", 2)]


async def test_what_waits_is_applied_anyway(catalog: Catalog) -> None:
    await accept(catalog, a_page())

    assert not await apply_again(catalog)


async def test_what_another_holds_is_applied_again_after_it(catalog: Catalog) -> None:
    await accept(catalog, a_page(), job_id="1")
    [held] = await claim(catalog)

    assert await apply_again(catalog)

    assert await claim(catalog, now=41.0) == []
    await catalog.work.commit_applied(held, chunk_ids={"g1": ["c"]}, outcome=Outcome.EMBEDDED, now=42.0)
    assert [item.job_id for item in await claim(catalog, now=43.0)] == ["again"]


async def test_nothing_is_done_for_what_is_not_there(catalog: Catalog) -> None:
    assert not await apply_again(catalog, "never there")
    assert not await catalog.repairs.apply_again("nowhere", "page", job_id="again", now=40.0)


async def test_nothing_is_done_for_a_generation_that_nothing_is_applied_to(catalog: Catalog) -> None:
    await accept(catalog, a_page())
    await apply_all(catalog)

    assert not await apply_again(catalog, written_to="dropped")
    assert await apply_again(catalog, written_to="g1")


async def test_cancelling_it_forgets_no_document(catalog: Catalog) -> None:
    await accept(catalog, a_page(), job_id="1")
    await apply_all(catalog)
    await apply_again(catalog)

    await catalog.jobs.cancel("again", now=45.0)

    assert (await catalog.documents.get("pages", "page")).revision == 1
    assert len(await claim(catalog, now=50.0)) == 1


async def test_its_failure_leaves_the_document_as_it_was(catalog: Catalog) -> None:
    await accept(catalog, a_page(), job_id="1")
    await apply_all(catalog)
    await apply_again(catalog)
    [item] = await claim(catalog, now=50.0)

    await catalog.work.fail(item, reason="the original is lost", now=51.0, retry_at=None)

    assert (await catalog.jobs.get("again")).state == "failed"
    assert (await catalog.documents.get("pages", "page")).chunks == 2
