"""Building beside what serves: every document once, changes meanwhile included, whatever comes between."""

import asyncio

import pytest
from sqlalchemy import text

from services.shared.catalog.acceptance import Outcome
from services.shared.catalog.builds import BuildItem
from services.shared.catalog.catalog import Catalog
from services.shared.catalog.documents import Delete
from services.shared.catalog.generations import AppliedDocument
from services.shared.catalog.jobs import Failure, JobState, Outcomes
from services.shared.catalog.manifest import GenerationState
from services.shared.catalog.term_statistics import DocumentTerms, TermStatistics
from services.shared.catalog.work_item import WorkItem
from services.shared.runtime.errors import Conflict
from tests.contract.catalog.examples import MANIFEST, a_page, accept, apply_all, claim
from tests.contract.catalog.revisions import within


async def applied(catalog: Catalog, *names: str) -> None:
    await accept(catalog, *(a_page(name) for name in names), job_id=f"{names[0]} and {len(names) - 1} more")
    await apply_all(catalog)


async def start(catalog: Catalog, generation_id: str = "g2") -> GenerationState:
    job_id = f"build-{generation_id}"
    built = await catalog.builds.start("pages", generation_id=generation_id, manifest=MANIFEST, job_id=job_id, now=40.0)
    return built.state


async def claim_build(
    catalog: Catalog, *, owner: str = "builder", now: float = 50.0, limit: int = 9
) -> list[BuildItem]:
    return list(await catalog.builds.claim(owner=owner, now=now, lease_s=30.0, limit=limit))


async def build(catalog: Catalog, item: BuildItem, *chunk_ids: str, outcome: Outcome = Outcome.EMBEDDED) -> None:
    terms = DocumentTerms.of(["a"] * len(chunk_ids))
    await catalog.builds.commit(item, chunk_ids=chunk_ids, terms=terms, outcome=outcome, now=55.0)


async def apply(catalog: Catalog, item: WorkItem, *chunk_ids: str) -> None:
    live = await catalog.generations.live("pages")
    outcome = Outcome.EMBEDDED if chunk_ids else Outcome.DELETED
    held = {generation.id: chunk_ids for generation in live}
    await catalog.work.commit_applied(item, chunk_ids=held, outcome=outcome, now=60.0)


async def state(catalog: Catalog) -> GenerationState:
    return (await catalog.generations.get("g2")).state


async def test_nothing_to_build_is_ready_at_once(catalog: Catalog) -> None:
    assert await start(catalog) is GenerationState.READY
    assert (await catalog.jobs.get("build-g2")).state is JobState.SUCCEEDED


async def test_every_document_is_built_once_and_the_last_makes_it_ready(catalog: Catalog) -> None:
    await applied(catalog, "a", "b", "c")
    assert await start(catalog) is GenerationState.BUILDING

    first, second, third = await claim_build(catalog)
    assert await claim_build(catalog) == []
    assert [(item.document_id, item.revision, item.serving_id) for item in (first, second, third)] == [
        ("a", 1, "g1"), ("b", 2, "g1"), ("c", 3, "g1"),
    ]  # fmt: skip
    await build(catalog, first, "x1", "x2")
    await build(catalog, second, "y1", outcome=Outcome.REUSED)
    assert await state(catalog) is GenerationState.BUILDING
    await build(catalog, third)

    generation = await catalog.generations.get("g2")
    assert (generation.state, generation.documents, generation.chunks) == (GenerationState.READY, 3, 3)
    assert generation.applied_sequence == 3
    assert await catalog.generations.applied("g2", "a") == AppliedDocument(1, ("x1", "x2"))
    assert await catalog.terms.look_up("g2", ["a"]) == TermStatistics(3, 3, {"a": 3})
    job = await catalog.jobs.get("build-g2")
    assert (job.state, job.total, job.outcomes) == (JobState.SUCCEEDED, 3, Outcomes(reused=1, embedded=2))


async def test_change_during_the_build_takes_its_document_off_the_list(catalog: Catalog) -> None:
    await applied(catalog, "a", "b")
    await start(catalog)
    await accept(catalog, a_page("a", title="New"), Delete("b"), job_id="changes")

    assert await claim_build(catalog) == []  # both are about to change
    new, gone = await claim(catalog, limit=5)
    await apply(catalog, new, "n1")
    await apply(catalog, gone)

    assert await state(catalog) is GenerationState.READY
    assert await catalog.generations.applied("g2", "a") == AppliedDocument(3, ("n1",))
    assert await catalog.generations.applied("g2", "b") is None
    assert (await catalog.jobs.get("build-g2")).outcomes == Outcomes(embedded=1, deleted=1)


async def test_change_waits_while_its_document_is_being_built(catalog: Catalog) -> None:
    await applied(catalog, "a")
    await start(catalog)
    (item,) = await claim_build(catalog, now=50.0)
    await accept(catalog, a_page("a", title="New"), job_id="change")

    assert await claim(catalog, now=51.0) == []
    with pytest.raises(Conflict, match="no longer this builder's"):
        await build(catalog, item, "x1")  # what it built is old already
    await catalog.builds.put_off(item, retry_at=52.0)
    (change,) = await claim(catalog, now=53.0)
    await apply(catalog, change, "n1")

    assert await catalog.generations.applied("g2", "a") == AppliedDocument(2, ("n1",))


async def test_document_of_a_dead_builder_is_built_by_another(catalog: Catalog, second_catalog: Catalog) -> None:
    await applied(catalog, "a")
    await start(catalog)
    (lost,) = await claim_build(catalog, owner="dead", now=50.0)

    assert await claim_build(second_catalog, owner="alive", now=79.0) == []
    (taken,) = await claim_build(second_catalog, owner="alive", now=80.0)
    with pytest.raises(Conflict):
        await build(catalog, lost, "x1")
    await build(second_catalog, taken, "x1")

    assert await state(catalog) is GenerationState.READY


async def test_lease_lasts_longer_when_it_is_renewed(catalog: Catalog) -> None:
    await applied(catalog, "a")
    await start(catalog)
    items = await claim_build(catalog, now=50.0)

    await catalog.builds.renew(items, now=70.0, lease_s=30.0)

    assert await claim_build(catalog, owner="other", now=99.0) == []
    assert len(await claim_build(catalog, owner="other", now=100.0)) == 1


async def test_leases_are_held_until_another_builder_has_them(catalog: Catalog) -> None:
    await applied(catalog, "a")
    await start(catalog)
    items = await claim_build(catalog, now=50.0)
    await catalog.builds.require_held(items)

    await claim_build(catalog, owner="other", now=80.0)

    with pytest.raises(Conflict, match="no longer this builder's"):
        await catalog.builds.require_held(items)


async def test_builders_side_by_side_get_each_document_once(catalog: Catalog, second_catalog: Catalog) -> None:
    names = [f"p{n:02}" for n in range(40)]
    await applied(catalog, *names)
    await start(catalog)

    async def work(one: Catalog, owner: str) -> list[str]:
        mine: list[str] = []
        while items := await claim_build(one, owner=owner, limit=3):
            for item in items:
                await build(one, item, "x")
                mine.append(item.document_id)
        return mine

    built = await asyncio.gather(*(work(one, owner) for one, owner in ((catalog, "a"), (second_catalog, "b"))))

    assert sorted(name for names_of_one in built for name in names_of_one) == names
    assert await state(catalog) is GenerationState.READY


async def test_document_that_cannot_be_built_fails_the_generation_and_is_named(catalog: Catalog) -> None:
    await applied(catalog, "a", "b")
    await start(catalog)
    bad, _ = await claim_build(catalog)

    await catalog.builds.fail(bad, reason="no text", now=56.0)

    assert await state(catalog) is GenerationState.FAILED
    assert (await catalog.jobs.get("build-g2")).state is JobState.FAILED
    assert await catalog.jobs.failures("build-g2", limit=9) == (Failure("a", "no text"),)
    assert await claim_build(catalog, now=500.0) == []
    assert [generation.id for generation in await catalog.generations.live("pages")] == ["g1"]


async def test_cancelled_build_fails_its_generation_and_touches_no_document(catalog: Catalog) -> None:
    await applied(catalog, "a")
    await start(catalog)

    await catalog.jobs.cancel("build-g2", now=50.0)

    assert await state(catalog) is GenerationState.FAILED
    assert (await catalog.documents.get("pages", "a")).chunks == 2
    assert await start(catalog, "g3") is GenerationState.BUILDING


async def test_change_that_failed_for_good_leaves_its_document_to_the_builder(catalog: Catalog) -> None:
    await applied(catalog, "a")
    await start(catalog)
    await accept(catalog, a_page("a", title="Bad"), job_id="bad")
    (item,) = await claim(catalog)
    await catalog.work.fail(item, reason="no text", now=50.0, retry_at=None)

    (left,) = await claim_build(catalog)

    assert (left.document_id, left.revision) == ("a", 1)


async def test_waiting_builds_count_neither_as_lag_nor_as_waiting_changes(catalog: Catalog) -> None:
    await applied(catalog, "a")
    await start(catalog)

    assert (await catalog.collections.get("pages")).lag == 0
    assert await catalog.work.waiting() == 0
    assert (await accept(catalog, a_page("a"), job_id="same")).state is JobState.SUCCEEDED


async def test_deleted_collection_takes_its_build_along(catalog: Catalog) -> None:
    await applied(catalog, "a")
    await start(catalog)
    (item,) = await claim_build(catalog)

    await catalog.collections.delete("pages", now=51.0)

    with pytest.raises(Conflict):
        await build(catalog, item, "x")
    assert (await catalog.jobs.get("build-g2")).state is JobState.CANCELLED


async def test_generation_that_lacks_a_document_is_not_promoted(catalog: Catalog, catalog_url: str) -> None:
    await start(catalog)
    await applied(catalog, "a")
    lost = text("DELETE FROM generation_documents WHERE generation_id = 'g2'")
    await within(catalog_url, lambda connection: connection.execute(lost))

    with pytest.raises(Conflict, match=r"'g2' holds 0 documents .* the serving one 1"):
        await catalog.generations.promote("pages", "g2")

    assert (await catalog.collections.get("pages")).active.id == "g1"
