"""What the catalog says that the other stores hold."""

import pytest

from services.shared.catalog.acceptance import Outcome
from services.shared.catalog.catalog import Catalog
from services.shared.catalog.documents import Delete
from services.shared.catalog.inventory import Holding, Original
from services.shared.runtime.errors import Conflict
from tests.contract.catalog.examples import a_page, accept, apply_all, claim


async def test_holdings_come_page_by_page_in_the_order_of_their_ids(catalog: Catalog) -> None:
    await accept(catalog, a_page("b"), a_page("a"), a_page("c"))
    await apply_all(catalog, chunk_ids=["c1", "c2"])

    first = await catalog.inventory.holdings("g1", after="", limit=2)
    assert first == (Holding("a", 2, ("c1", "c2")), Holding("b", 1, ("c1", "c2")))
    assert await catalog.inventory.holdings("g1", after="b", limit=2) == (Holding("c", 3, ("c1", "c2")),)
    assert await catalog.inventory.holdings("other", after="", limit=2) == ()


async def test_holdings_of_documents_leave_out_what_is_not_held(catalog: Catalog) -> None:
    await accept(catalog, a_page("a"), a_page("b"))
    await apply_all(catalog)
    await accept(catalog, Delete("b"), a_page("waits"), job_id="later")
    (item,) = await claim(catalog)
    await catalog.work.commit_applied(item, chunk_ids={"g1": ()}, outcome=Outcome.DELETED, now=30.0)

    assert await catalog.inventory.holdings_of("g1", ["a", "b", "waits"]) == {"a": Holding("a", 1, ("c1", "c2"))}


async def test_originals_are_found_by_the_first_digits_of_their_digests(catalog: Catalog) -> None:
    await accept(catalog, a_page("a", blob="af" + "0" * 62), a_page("b", blob="b0" + "0" * 62), Delete("c"))

    assert await catalog.inventory.originals("af") == (Original("pages", "a", 1, "af" + "0" * 62),)
    assert await catalog.inventory.originals("b0") == (Original("pages", "b", 2, "b0" + "0" * 62),)
    assert await catalog.inventory.originals("a0") == ()


async def test_original_of_a_superseded_revision_is_not_asked_for(catalog: Catalog) -> None:
    await accept(catalog, a_page("a", blob="a" * 64))
    await apply_all(catalog)
    await accept(catalog, a_page("a", title="Other", blob="a" * 63 + "b"), job_id="second")
    assert [one.revision for one in await catalog.inventory.originals("aa")] == [1, 2]  # the second may still fail
    await apply_all(catalog)
    assert [one.revision for one in await catalog.inventory.originals("aa")] == [2]


async def test_documents_under_a_lease_are_counted_until_it_ends(catalog: Catalog) -> None:
    await accept(catalog, a_page("a"), a_page("b"))
    await claim(catalog, now=20.0)  # for 30 s

    assert await catalog.inventory.being_applied(now=49.0) == 1
    assert await catalog.inventory.being_applied(now=51.0) == 0


async def test_corrected_chunks_are_counted_and_end_the_statistics(catalog: Catalog) -> None:
    await accept(catalog, a_page("a"))
    await apply_all(catalog, chunk_ids=["c1", "c2"])
    (holding,) = await catalog.inventory.holdings("g1", after="", limit=1)
    before = await catalog.generations.get("g1")

    await catalog.inventory.correct("g1", holding, ["c1", "c3", "c4"])

    assert await catalog.inventory.holdings("g1", after="", limit=1) == (Holding("a", 1, ("c1", "c3", "c4")),)
    after = await catalog.generations.get("g1")
    assert (after.chunks, after.revision) == (3, before.revision + 1)
    assert await catalog.terms.missing() == ("g1",)


async def test_document_that_changed_meanwhile_is_not_corrected(catalog: Catalog) -> None:
    await accept(catalog, a_page("a"))
    await apply_all(catalog)
    (holding,) = await catalog.inventory.holdings("g1", after="", limit=1)
    await accept(catalog, a_page("a", title="Other"), job_id="second")
    await apply_all(catalog)

    with pytest.raises(Conflict):
        await catalog.inventory.correct("g1", holding, ["c9"])
