import pytest

from services.shared.catalog.acceptance import Outcome
from services.shared.catalog.catalog import Catalog
from services.shared.catalog.documents import Delete
from services.shared.runtime.errors import InvalidInput, NotFound
from tests.contract.catalog.examples import a_collection, a_page, accept, apply_all, claim


async def test_document_comes_back_as_it_was_put(catalog: Catalog) -> None:
    put = a_page("çalışma/1", title="Ünite 1 — 明月", uri=None, date=None, metadata={"year": 2**53, "draft": True})
    await accept(catalog, put, now=12.5)

    document = await catalog.documents.get("pages", "çalışma/1")

    assert document.content == put
    assert (document.collection, document.revision, document.accepted_at) == ("pages", 1, 12.5)


async def test_newest_revision_is_what_the_document_is_and_older_ones_can_be_read(catalog: Catalog) -> None:
    await accept(catalog, a_page(title="First"), a_page("other"), a_page(title="Third"))

    newest = await catalog.documents.get("pages", "page")
    first = await catalog.documents.at_revision("pages", "page", 1)

    assert (newest.revision, newest.content.title) == (3, "Third")
    assert (first.revision, first.content.title) == (1, "First")


async def test_chunks_are_those_that_the_active_generation_holds(catalog: Catalog) -> None:
    await accept(catalog, a_page(), job_id="first")
    assert (await catalog.documents.get("pages", "page")).chunks == 0
    await apply_all(catalog, chunk_ids=("c1", "c2", "c3"))
    await accept(catalog, a_page(title="Not applied yet"), job_id="second")

    document = await catalog.documents.get("pages", "page")
    assert (document.content.title, document.chunks) == ("Not applied yet", 3)


async def test_own_title_stands_until_the_caller_gives_one(catalog: Catalog) -> None:
    await accept(catalog, a_page(title=""), job_id="first")
    assert (await catalog.documents.get("pages", "page")).title == ""
    (item,) = await claim(catalog)
    held = {"g1": ["c1"]}
    await catalog.work.commit_applied(item, chunk_ids=held, outcome=Outcome.EMBEDDED, now=21.0, own_title="Its heading")
    assert (await catalog.documents.get("pages", "page")).title == "Its heading"

    reused = await accept(catalog, a_page(title=""), job_id="second")
    assert reused.outcomes.reused == 1
    await accept(catalog, a_page(title="Given"), job_id="third")
    assert (await catalog.documents.get("pages", "page")).title == "Given"


async def test_no_character_of_a_title_in_the_content_is_too_odd(catalog: Catalog) -> None:
    await accept(catalog, a_page(title=""))
    (item,) = await claim(catalog)
    await catalog.work.commit_applied(
        item, chunk_ids={"g1": ["c"]}, outcome=Outcome.EMBEDDED, now=30.0, own_title="A \0 and \x1f and \uffff"
    )

    assert (await catalog.documents.get("pages", "page")).title.endswith(" and \x1f and \uffff")


async def test_deleted_document_is_gone_as_soon_as_that_is_accepted(catalog: Catalog) -> None:
    await accept(catalog, a_page("a"), a_page("b"), job_id="put")
    await apply_all(catalog)
    await accept(catalog, Delete("a"), job_id="delete")

    assert [one.id for one in (await catalog.documents.list("pages", after=None, limit=10)).documents] == ["b"]
    with pytest.raises(NotFound, match="has no document 'a'"):
        await catalog.documents.get("pages", "a")


async def test_document_put_again_after_its_deletion_has_a_higher_revision(catalog: Catalog) -> None:
    await accept(catalog, a_page(), Delete("page"), a_page())
    await apply_all(catalog)

    assert (await catalog.documents.get("pages", "page")).revision == 3


async def test_pages_follow_each_other_without_overlap_or_gap(catalog: Catalog) -> None:
    ids = [f"p{n}" for n in range(7)]
    await accept(catalog, *(a_page(one) for one in reversed(ids)), a_page("p3", title="Again"))
    await a_collection(catalog, "other", generation_id="o1")
    await catalog.jobs.accept("other", [a_page("p9")], job_id="other", now=10.0)

    pages, after = [], None
    while True:
        page = await catalog.documents.list("pages", after=after, limit=3)
        pages.append([document.id for document in page.documents])
        if (after := page.next) is None:
            break

    assert pages == [ids[:3], ids[3:6], ids[6:]]


async def test_last_full_page_has_no_next(catalog: Catalog) -> None:
    await accept(catalog, a_page("a"), a_page("b"))

    assert (await catalog.documents.list("pages", after=None, limit=2)).next is None


async def test_page_goes_on_after_an_id_that_was_deleted_meanwhile(catalog: Catalog) -> None:
    await accept(catalog, a_page("a"), a_page("b"), a_page("c"))
    await accept(catalog, Delete("b"), job_id="delete")

    page = await catalog.documents.list("pages", after="b", limit=10)
    assert [document.id for document in page.documents] == ["c"]


@pytest.mark.parametrize("limit", [0, -1, 1001])
async def test_page_size_is_bounded(catalog: Catalog, limit: int) -> None:
    with pytest.raises(InvalidInput) as refused:
        await catalog.documents.list("pages", after=None, limit=limit)
    assert refused.value.field == "limit"


async def test_several_revisions_are_read_at_once_without_deletions_and_unknown_ones(catalog: Catalog) -> None:
    await accept(catalog, a_page("a", title="First"), a_page("b"), a_page("a", title="Second"), Delete("b"))

    found = await catalog.documents.at_revisions("pages", [1, 3, 4, 99])

    assert {number: (one.id, one.title) for number, one in found.items()} == {1: ("a", "First"), 3: ("a", "Second")}


async def test_unknown_document_or_revision_is_not_found(catalog: Catalog) -> None:
    await accept(catalog, a_page())

    for call in (
        catalog.documents.get("pages", "nothing"),
        catalog.documents.get("nothing", "page"),
        catalog.documents.at_revision("pages", "page", 2),
    ):
        with pytest.raises(NotFound):
            await call


async def fail(catalog: Catalog) -> None:
    (item,) = await claim(catalog)
    await catalog.work.fail(item, reason="no text", now=20.0, retry_at=None)


async def titles(catalog: Catalog) -> list[str]:
    return [one.title for one in (await catalog.documents.list("pages", after=None, limit=10)).documents]


async def test_failed_replacement_leaves_the_document_as_it_was(catalog: Catalog) -> None:
    await accept(catalog, a_page(title="Old"), job_id="first")
    await apply_all(catalog, chunk_ids=("c1",))
    await accept(catalog, a_page(title="New"), job_id="second")
    await fail(catalog)

    document = await catalog.documents.get("pages", "page")
    assert (document.title, document.revision, document.chunks) == ("Old", 1, 1)
    assert await titles(catalog) == ["Old"]


async def test_document_of_which_nothing_was_ever_applied_does_not_exist(catalog: Catalog) -> None:
    await accept(catalog, a_page())
    await fail(catalog)

    assert await titles(catalog) == []
    with pytest.raises(NotFound):
        await catalog.documents.get("pages", "page")


async def test_failed_deletion_leaves_the_document(catalog: Catalog) -> None:
    await accept(catalog, a_page(title="Old"), job_id="put")
    await apply_all(catalog)
    await accept(catalog, Delete("page"), job_id="delete")
    await fail(catalog)

    assert await titles(catalog) == ["Old"]


async def test_attempt_that_is_put_off_is_still_what_the_document_will_be(catalog: Catalog) -> None:
    await accept(catalog, a_page(title="New"))
    (item,) = await claim(catalog)
    await catalog.work.fail(item, reason="busy", now=20.0, retry_at=50.0)

    assert await titles(catalog) == ["New"]


async def test_change_after_a_failed_one_is_what_the_document_is(catalog: Catalog) -> None:
    await accept(catalog, a_page(title="Failing"), a_page(title="Third"))
    await fail(catalog)

    assert await titles(catalog) == ["Third"]
    await apply_all(catalog)
    assert (await catalog.documents.get("pages", "page")).revision == 2


@pytest.mark.parametrize("title", ["Old", "New"])
async def test_after_a_failure_either_content_is_applied_again(catalog: Catalog, title: str) -> None:
    await accept(catalog, a_page(title="Old"), job_id="first")
    await apply_all(catalog)
    await accept(catalog, a_page(title="New"), job_id="second")
    await fail(catalog)

    # The failed attempt may have left a part of itself in the index: only another one mends that.
    assert (await accept(catalog, a_page(title=title), job_id="third")).done == 0
    await apply_all(catalog)
    assert await titles(catalog) == [title]
    assert (await accept(catalog, a_page(title=title), job_id="fourth")).outcomes.reused == 1


async def test_deletion_after_a_failure_clears_what_it_may_have_left(catalog: Catalog) -> None:
    await accept(catalog, a_page(), job_id="first")
    await fail(catalog)

    assert (await accept(catalog, Delete("page"), job_id="second")).done == 0


async def test_documents_are_listed_in_the_order_of_their_code_points(catalog: Catalog) -> None:
    in_order = ["B", "Z", "_", "a", "a b", "a-b", "ab", "z", "ä", "あ", "𝒳"]
    await accept(catalog, *(a_page(one) for one in reversed(in_order)))

    listed: list[str] = []
    after = None
    while True:
        page = await catalog.documents.list("pages", after=after, limit=2)
        listed += [document.id for document in page.documents]
        after = page.next
        if after is None:
            break

    assert listed == in_order


async def test_superseded_revisions_are_forgotten_a_page_at_a_time(catalog: Catalog) -> None:
    pages = [f"p{n}" for n in range(5)]
    for job in ("first", "second", "third"):
        await accept(catalog, *(a_page(one, title=job, blob=f"{n:064}") for n, one in enumerate(pages)), job_id=job)
        if job != "third":
            await apply_all(catalog)

    after: tuple[str, str, int] | None = ("", "", 0)
    rounds = 0
    while after is not None:
        after = await catalog.documents.forget_superseded(after=after, limit=2)
        rounds += 1

    assert rounds == 3
    for n, one in enumerate(pages):
        assert (await catalog.documents.at_revision("pages", one, 6 + n)).title == "second"  # the third may fail
        with pytest.raises(NotFound):
            await catalog.documents.at_revision("pages", one, 1 + n)


async def test_blobs_are_named_by_every_revision_that_is_left(catalog: Catalog) -> None:
    await accept(catalog, a_page(blob="1" * 64))
    await apply_all(catalog)
    await accept(catalog, a_page(blob="2" * 64, title="Second"), job_id="second")

    assert await catalog.documents.named_blobs(["1" * 64, "2" * 64, "3" * 64]) == {"1" * 64, "2" * 64}
