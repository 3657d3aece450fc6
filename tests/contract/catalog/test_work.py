import asyncio
from collections import Counter

import pytest

from services.shared.catalog.acceptance import Outcome
from services.shared.catalog.catalog import Catalog
from services.shared.catalog.documents import Delete
from services.shared.catalog.generations import AppliedDocument
from services.shared.catalog.jobs import Outcomes
from services.shared.catalog.work import AppliedItem
from services.shared.catalog.work_item import WorkItem
from services.shared.runtime.errors import Conflict
from tests.contract.catalog.examples import MANIFEST, a_page, accept, apply_all, claim


async def commit(catalog: Catalog, item: WorkItem, *chunk_ids: str, outcome: Outcome = Outcome.EMBEDDED) -> None:
    await catalog.work.commit_applied(item, chunk_ids={"g1": chunk_ids}, outcome=outcome, now=30.0)


async def test_workers_side_by_side_get_each_item_once(catalog: Catalog, second_catalog: Catalog) -> None:
    await accept(catalog, *(a_page(f"p{n:02}") for n in range(60)))

    async def work(one: Catalog, owner: str) -> list[str]:
        mine: list[str] = []
        while items := await claim(one, owner=owner, limit=2):
            mine += [item.document_id for item in items]
        return mine

    workers = [(catalog, "a"), (catalog, "b"), (second_catalog, "c"), (second_catalog, "d")]
    claimed = Counter(name for names in await asyncio.gather(*(work(*one) for one in workers)) for name in names)

    assert claimed == {f"p{n:02}": 1 for n in range(60)}


async def test_claim_takes_the_oldest_first_up_to_its_limit(catalog: Catalog) -> None:
    await accept(catalog, a_page("b"), a_page("a"), a_page("c"))

    assert [item.document_id for item in await claim(catalog, limit=2)] == ["b", "a"]
    assert [item.document_id for item in await claim(catalog, limit=2)] == ["c"]
    assert await claim(catalog) == []


async def test_waiting_counts_what_has_not_begun_and_what_is_being_done(catalog: Catalog) -> None:
    await accept(catalog, a_page("a"), a_page("b"), Delete("unknown"))
    assert await catalog.work.waiting() == 2

    (item,) = await claim(catalog)
    assert await catalog.work.waiting() == 2
    await commit(catalog, item, "c1")
    assert await catalog.work.waiting() == 1


async def test_changes_of_one_document_wait_for_each_other(catalog: Catalog) -> None:
    await accept(catalog, a_page("a"), a_page("a", title="Second"), a_page("b"))

    first, other = await claim(catalog, limit=5)
    assert (first.revision, other.document_id) == (1, "b")
    assert await claim(catalog) == []

    await commit(catalog, first, "c1")
    (second,) = await claim(catalog)
    assert second.revision == 2


async def test_change_waits_for_an_earlier_one_that_is_put_off(catalog: Catalog) -> None:
    await accept(catalog, a_page("a"), a_page("a", title="Second"))
    (first,) = await claim(catalog)
    await catalog.work.fail(first, reason="busy", now=20.0, retry_at=100.0)

    assert await claim(catalog, now=99.0) == []
    assert [item.revision for item in await claim(catalog, now=100.0)] == [1]


async def test_change_goes_on_after_an_earlier_one_that_failed_for_good(catalog: Catalog) -> None:
    await accept(catalog, a_page("a"), a_page("a", title="Second"))
    (first,) = await claim(catalog)
    await catalog.work.fail(first, reason="no text", now=20.0, retry_at=None)

    assert [item.revision for item in await claim(catalog)] == [2]


async def test_item_of_a_dead_worker_is_claimed_again_when_its_lease_ends(
    catalog: Catalog, second_catalog: Catalog
) -> None:
    await accept(catalog, a_page())
    (lost,) = await claim(catalog, owner="dead", now=20.0)
    assert (lost.attempts, lost.lease_until) == (1, 50.0)

    assert await claim(second_catalog, owner="alive", now=49.0) == []
    (taken,) = await claim(second_catalog, owner="alive", now=50.0)

    assert (taken.id, taken.revision, taken.attempts, taken.owner) == (lost.id, lost.revision, 2, "alive")


async def test_worker_without_the_lease_can_say_nothing(catalog: Catalog) -> None:
    await accept(catalog, a_page())
    (lost,) = await claim(catalog, now=20.0)
    (held,) = await claim(catalog, now=50.0)  # the same owner, once more: still another lease

    for call in (
        commit(catalog, lost, "c1"),
        catalog.work.fail(lost, reason="late", now=51.0, retry_at=None),
        catalog.work.fail(lost, reason="late", now=51.0, retry_at=60.0),
    ):
        with pytest.raises(Conflict, match="lease on document 'page' of 'pages' is lost"):
            await call

    assert await catalog.work.renew([lost], now=51.0, lease_s=30.0) == ()
    assert await catalog.generations.applied("g1", "page") is None
    await commit(catalog, held, "c1")
    assert (await catalog.jobs.get("job")).done == 1


async def test_item_is_committed_once(catalog: Catalog) -> None:
    await accept(catalog, a_page())
    (item,) = await claim(catalog)
    await commit(catalog, item, "c1")

    with pytest.raises(Conflict):
        await commit(catalog, item, "c1")

    assert (await catalog.collections.get("pages")).active.revision == 1


async def test_commit_for_a_deleted_collection_is_a_lost_lease(catalog: Catalog) -> None:
    await accept(catalog, a_page())
    (item,) = await claim(catalog)
    await catalog.collections.delete("pages", now=25.0)

    with pytest.raises(Conflict, match="is lost"):
        await commit(catalog, item, "c1")


async def test_renewed_lease_lasts_longer(catalog: Catalog) -> None:
    await accept(catalog, a_page())
    (item,) = await claim(catalog, now=20.0)

    (renewed,) = await catalog.work.renew([item], now=45.0, lease_s=30.0)

    assert renewed.lease_until == 75.0
    assert await claim(catalog, now=74.0) == []
    await commit(catalog, renewed, "c1")


async def test_renewal_of_a_batch_leaves_out_what_is_done_or_lost(catalog: Catalog) -> None:
    await accept(catalog, *(a_page(f"p{number}") for number in range(4)))
    done, lost, first, second = await claim(catalog, now=20.0, limit=4)
    await commit(catalog, done, "c1")
    await catalog.work.fail(lost, reason="later", now=30.0, retry_at=30.0)

    renewed = await catalog.work.renew([done, lost, first, second], now=45.0, lease_s=30.0)

    assert [item.document_id for item in renewed] == ["p2", "p3"]
    assert [item.document_id for item in await claim(catalog, now=74.0, limit=4)] == ["p1"]


async def test_commit_records_chunks_counts_and_a_higher_revision(catalog: Catalog) -> None:
    await accept(catalog, a_page("a"), a_page("b"), a_page("a", title="Second"), Delete("b"))
    seen = []
    for chunk_ids in (["c1", "c2", "c3"], ["d1"], ["c1", "c9"], []):
        (item,) = await claim(catalog)
        await commit(catalog, item, *chunk_ids)
        active = (await catalog.collections.get("pages")).active
        seen.append((active.revision, active.documents, active.chunks))

    assert seen == [(1, 1, 3), (2, 2, 4), (3, 2, 3), (4, 1, 2)]
    assert await catalog.generations.applied("g1", "a") == AppliedDocument(3, ("c1", "c9"))
    assert await catalog.generations.applied("g1", "b") is None


async def test_document_without_chunks_is_applied_too(catalog: Catalog) -> None:
    await accept(catalog, a_page())
    await apply_all(catalog, chunk_ids=())

    assert await catalog.generations.applied("g1", "page") == AppliedDocument(1, ())
    assert (await catalog.collections.get("pages")).active.documents == 1


async def test_applied_sequence_stops_before_the_oldest_unfinished_change(catalog: Catalog) -> None:
    await accept(catalog, a_page("a"), a_page("b"), a_page("c"))
    a, b, c = await claim(catalog, limit=3)

    async def lag() -> int:
        return (await catalog.collections.get("pages")).lag

    assert await lag() == 3
    await commit(catalog, c, "c1")
    assert await lag() == 3
    await commit(catalog, a, "a1")
    assert await lag() == 2
    await catalog.work.fail(b, reason="no text", now=30.0, retry_at=None)
    assert await lag() == 0


async def test_failed_document_keeps_what_it_held(catalog: Catalog) -> None:
    await accept(catalog, a_page(), job_id="first")
    await apply_all(catalog, chunk_ids=("c1",))
    await accept(catalog, a_page(title="Second"), job_id="second")
    (item,) = await claim(catalog)
    await catalog.work.fail(item, reason="no text", now=20.0, retry_at=None)

    assert await catalog.generations.applied("g1", "page") == AppliedDocument(1, ("c1",))
    assert (await catalog.collections.get("pages")).active.revision == 1


async def test_change_is_applied_to_a_generation_that_began_during_the_work(catalog: Catalog) -> None:
    await accept(catalog, a_page())
    (item,) = await claim(catalog)
    await catalog.builds.start("pages", generation_id="g2", manifest=MANIFEST, job_id="build", now=25.0)

    with pytest.raises(Conflict, match="generation 'g2' is kept in step as well"):
        await commit(catalog, item, "c1")

    assert await catalog.generations.applied("g1", "page") is None
    await catalog.work.commit_applied(
        item, chunk_ids={"g1": ["c1"], "g2": ["e1", "e2"]}, outcome=Outcome.EMBEDDED, now=30.0
    )
    assert await catalog.generations.applied("g2", "page") == AppliedDocument(1, ("e1", "e2"))
    assert (await catalog.jobs.get("job")).done == 1


async def test_claim_takes_no_more_bytes_than_asked_but_always_one_item(catalog: Catalog) -> None:
    await accept(catalog, *(a_page(name, size=size) for name, size in (("a", 9), ("b", 4), ("c", 2), ("d", 1))))

    async def claimed() -> list[str]:
        items = await catalog.work.claim(owner="w", now=20.0, lease_s=30.0, limit=10, max_bytes=6)
        return [item.document_id for item in items]

    assert [await claimed() for _ in range(3)] == [["a"], ["b", "c"], ["d"]]


async def test_claim_passes_over_what_is_too_large_for_it(catalog: Catalog) -> None:
    await accept(catalog, a_page("large", size=10), a_page("small", size=9), Delete("large"))

    async def claimed(max_bytes_each: int) -> list[str]:
        items = await catalog.work.claim(owner="w", now=20.0, lease_s=30.0, limit=10, max_bytes_each=max_bytes_each)
        return [item.document_id for item in items]

    assert await claimed(9) == ["small"]  # the deletion is small as well, but behind the large one
    assert await claimed(9) == []
    assert await claimed(10) == ["large"]


async def test_items_committed_together_count_as_if_they_were_committed_one_by_one(catalog: Catalog) -> None:
    await accept(catalog, a_page("stays"), a_page("goes"), job_id="before")
    await apply_all(catalog, chunk_ids=["c1", "c2"])
    await accept(catalog, a_page("stays", title="Second"), Delete("goes"), job_id="first")
    await accept(catalog, a_page("new"), job_id="second")
    stays, goes, new = await claim(catalog, limit=3)
    before = await catalog.generations.get("g1")

    await catalog.work.commit_together(
        [
            AppliedItem(stays, Outcome.EMBEDDED, {"g1": ["c1"]}, own_title="Its heading"),
            AppliedItem(goes, Outcome.DELETED, {"g1": []}),
            AppliedItem(new, Outcome.REUSED, {"g1": ["c3", "c4", "c5"]}),
        ],
        now=30.0,
    )

    after = await catalog.generations.get("g1")
    assert (after.documents, after.chunks, after.revision) == (2, 4, before.revision + 3)
    assert after.applied_sequence == new.revision
    assert await catalog.generations.applied("g1", "stays") == AppliedDocument(stays.revision, ("c1",))
    assert await catalog.generations.applied("g1", "goes") is None
    assert (await catalog.documents.get("pages", "stays")).own_title == "Its heading"
    assert (await catalog.jobs.get("first")).outcomes == Outcomes(embedded=1, deleted=1)
    assert (await catalog.jobs.get("first")).state == (await catalog.jobs.get("second")).state == "succeeded"


async def test_one_lost_lease_keeps_all_items_from_being_committed(catalog: Catalog) -> None:
    await accept(catalog, a_page("a"), a_page("b"))
    kept, lost = await claim(catalog, limit=2)
    await catalog.work.fail(lost, reason="given back", now=25.0, retry_at=25.0)

    with pytest.raises(Conflict, match="a lease on one of 2 documents of 'pages' is lost"):
        await catalog.work.commit_together(
            [AppliedItem(one, Outcome.EMBEDDED, {"g1": ["c1"]}) for one in (kept, lost)], now=30.0
        )

    assert await catalog.generations.applied("g1", "a") is None
    assert (await catalog.jobs.get("job")).done == 0
    await commit(catalog, kept, "c1")  # by itself it can be


async def test_items_committed_together_leave_the_list_of_a_build(catalog: Catalog) -> None:
    await accept(catalog, a_page("a"), a_page("b"))
    await apply_all(catalog)
    await catalog.builds.start("pages", generation_id="g2", manifest=MANIFEST, job_id="build", now=25.0)
    await accept(catalog, a_page("a", title="Second"), Delete("b"), job_id="changes")
    items = await claim(catalog, now=30.0, limit=2)

    outcomes = {"a": Outcome.EMBEDDED, "b": Outcome.DELETED}
    held = {"a": ["c1"], "b": []}
    await catalog.work.commit_together(
        [
            AppliedItem(one, outcomes[one.document_id], dict.fromkeys(("g1", "g2"), held[one.document_id]))
            for one in items
        ],
        now=40.0,
    )

    assert (await catalog.generations.get("g2")).state == "ready"
    assert (await catalog.jobs.get("build")).outcomes == Outcomes(embedded=1, deleted=1)


async def test_leases_are_held_until_one_of_them_is_lost(catalog: Catalog) -> None:
    await accept(catalog, a_page("a"), a_page("b"))
    items = await claim(catalog, now=20.0, limit=2)
    await catalog.work.require_held(items)

    await catalog.work.fail(items[0], reason="later", now=30.0, retry_at=30.0)

    with pytest.raises(Conflict, match="a lease on one of 2 documents of 'pages' is lost"):
        await catalog.work.require_held(items)
    with pytest.raises(Conflict, match="the lease on document 'a' of 'pages' is lost"):
        await catalog.work.require_held(items[:1])
    await catalog.work.require_held(items[1:])
