"""Document frequencies and totals that follow every applied change, whatever happened between two of them."""

import asyncio
from collections.abc import Sequence
from random import Random

import pytest
from alembic import command
from alembic.config import Config
from sqlalchemy import Connection, func, select, update

from services.shared.catalog import term_statistics
from services.shared.catalog.acceptance import Outcome
from services.shared.catalog.catalog import Catalog
from services.shared.catalog.database import Database, migrate
from services.shared.catalog.documents import Delete
from services.shared.catalog.schema import changing_documents, generation_terms, generations
from services.shared.catalog.term_statistics import DocumentTerms, TermStatistics
from services.shared.catalog.work_item import Action, WorkItem
from services.shared.runtime.errors import Conflict
from tests.contract.catalog.examples import MANIFEST, a_collection, a_page, accept, claim

# Two chunks: `a` is in both and three times there, `b` in one.
PAGE = ["a a b", "a c"]


async def commit(catalog: Catalog, item: WorkItem, analysed: Sequence[str], *generation_ids: str) -> None:
    terms = DocumentTerms.of(analysed)
    ids = generation_ids or ("g1",)
    await catalog.work.commit_applied(
        item,
        chunk_ids={id_: [str(number) for number in range(len(analysed))] for id_ in ids},
        outcome=Outcome.EMBEDDED,
        now=30.0,
        terms={id_: terms for id_ in ids},
    )


async def replace(catalog: Catalog, before: Sequence[str], after: Sequence[str], *, page_id: str = "page") -> None:
    """Put or delete the page as ingest does: what stood is kept before it is replaced."""
    change = a_page(page_id, title=" ".join(after)[:99]) if after else Delete(page_id)
    await accept(catalog, change, job_id=f"{page_id} {before} {after}"[:60])
    (item,) = await claim(catalog)
    if before:
        await catalog.work.begin_replacing("g1", {item: DocumentTerms.of(before)})
    await commit(catalog, item, after)


async def all_rows(catalog_url: str) -> dict[str, int]:
    """What the tables hold for all generations: rows of terms and of documents being changed."""
    database = await Database.open(catalog_url)
    async with database.read() as connection:
        counts = {
            table.name: await connection.scalar(select(func.count()).select_from(table)) or 0
            for table in (generation_terms, changing_documents)
        }
    await database.close()
    return counts


async def test_a_new_generation_counts_from_nothing(catalog: Catalog) -> None:
    assert await catalog.terms.look_up("g1", ["a"]) == TermStatistics(chunks=0, tokens=0, frequencies={})


async def test_a_document_counts_each_token_once_per_chunk(catalog: Catalog) -> None:
    await replace(catalog, [], PAGE)

    assert await catalog.terms.look_up("g1", ["a", "b", "c", "d"]) == TermStatistics(2, 5, {"a": 2, "b": 1, "c": 1})
    assert await catalog.terms.look_up("g1", []) == TermStatistics(2, 5, {})


async def test_documents_add_up_and_a_replaced_one_counts_as_it_is_now(catalog: Catalog) -> None:
    await replace(catalog, [], PAGE)
    await replace(catalog, [], ["b d"], page_id="other")
    await replace(catalog, PAGE, ["a", "b b e"])

    statistics = await catalog.terms.look_up("g1", ["a", "b", "c", "d", "e"])
    assert statistics == TermStatistics(3, 6, {"a": 1, "b": 2, "d": 1, "e": 1})


async def test_a_token_that_no_chunk_holds_any_more_has_no_row(catalog: Catalog, catalog_url: str) -> None:
    await replace(catalog, [], PAGE)
    await replace(catalog, PAGE, [])

    assert await catalog.terms.look_up("g1", ["a"]) == TermStatistics(0, 0, {})
    assert await all_rows(catalog_url) == {"generation_terms": 0, "changing_documents": 0}


async def test_a_book_with_more_tokens_than_a_statement_takes_comes_and_goes(
    catalog: Catalog, catalog_url: str
) -> None:
    book = [" ".join(f"w:{number}" for number in range(40_000))]
    await replace(catalog, [], book)
    assert await catalog.terms.look_up("g1", ["w:39999"]) == TermStatistics(1, 40_000, {"w:39999": 1})

    await replace(catalog, book, [])

    assert (await all_rows(catalog_url))["generation_terms"] == 0


async def test_a_change_that_leaves_the_terms_alone_counts_nothing_twice(catalog: Catalog) -> None:
    await replace(catalog, [], PAGE)
    await accept(catalog, a_page(metadata={"year": 2025}), job_id="metadata")
    (item,) = await claim(catalog)
    await commit(catalog, item, PAGE)

    assert await catalog.terms.look_up("g1", ["a", "b"]) == TermStatistics(2, 5, {"a": 2, "b": 1})


async def test_an_attempt_that_died_after_it_touched_the_index_leaves_the_counts_exact(catalog: Catalog) -> None:
    await replace(catalog, [], PAGE)
    await accept(catalog, a_page(title="New"), job_id="new")
    (died,) = await claim(catalog, now=20.0)
    await catalog.work.begin_replacing("g1", {died: DocumentTerms.of(PAGE)})

    # The next attempt finds old and new chunks in the index, and the one after it the new ones only.
    (second,) = await claim(catalog, now=100.0)
    await catalog.work.begin_replacing("g1", {second: DocumentTerms.of([*PAGE, "b x"])})
    (third,) = await claim(catalog, now=200.0)
    await catalog.work.begin_replacing("g1", {third: DocumentTerms.of(["b x"])})
    await commit(catalog, third, ["b x"])

    assert await catalog.terms.look_up("g1", ["a", "b", "x"]) == TermStatistics(1, 2, {"b": 1, "x": 1})


async def test_a_change_that_failed_for_good_half_way_is_not_counted(catalog: Catalog) -> None:
    await replace(catalog, [], PAGE)
    await accept(catalog, a_page(title="Bad"), job_id="bad")
    (bad,) = await claim(catalog)
    await catalog.work.begin_replacing("g1", {bad: DocumentTerms.of(PAGE)})
    await catalog.work.fail(bad, reason="no text", now=25.0, retry_at=None)
    assert await catalog.terms.look_up("g1", ["a"]) == TermStatistics(2, 5, {"a": 2})

    await replace(catalog, ["x y z"], ["b"])  # what the failed change left in the index

    assert await catalog.terms.look_up("g1", ["a", "b", "x"]) == TermStatistics(1, 1, {"b": 1})


@pytest.mark.parametrize("first", [[], ["x y"]])
async def test_what_a_failed_first_change_left_in_the_index_was_never_counted(
    catalog: Catalog, first: list[str]
) -> None:
    if not first:  # applied, without a chunk
        await accept(catalog, a_page(title="Empty"), job_id="empty")
        (empty,) = await claim(catalog)
        await commit(catalog, empty, [])

    await replace(catalog, ["x y"], PAGE)

    assert await catalog.terms.look_up("g1", ["a", "x"]) == TermStatistics(2, 5, {"a": 2})


async def test_a_worker_without_the_lease_keeps_nothing(catalog: Catalog, catalog_url: str) -> None:
    await replace(catalog, [], PAGE)
    await accept(catalog, a_page(title="New"), job_id="new")
    (lost,) = await claim(catalog, now=20.0)
    await claim(catalog, now=100.0)

    with pytest.raises(Conflict, match="is lost"):
        await catalog.work.begin_replacing("g1", {lost: DocumentTerms.of(["z"])})

    assert (await all_rows(catalog_url))["changing_documents"] == 0


async def test_each_generation_counts_for_itself(catalog: Catalog) -> None:
    await replace(catalog, [], PAGE)
    await catalog.builds.start("pages", generation_id="g2", manifest=MANIFEST, job_id="build", now=25.0)
    await accept(catalog, a_page("other"), job_id="other")
    (item,) = await claim(catalog)
    await commit(catalog, item, ["a z"], "g1", "g2")

    assert await catalog.terms.look_up("g1", ["a", "z"]) == TermStatistics(3, 7, {"a": 3, "z": 1})
    assert await catalog.terms.look_up("g2", ["a", "z"]) == TermStatistics(1, 2, {"a": 1, "z": 1})


async def test_a_dropped_generation_takes_its_terms_along(catalog: Catalog, catalog_url: str) -> None:
    await replace(catalog, [], PAGE)
    await catalog.builds.start("pages", generation_id="g2", manifest=MANIFEST, job_id="build", now=25.0)
    await accept(catalog, a_page("other"), job_id="other")
    (item,) = await claim(catalog)
    await commit(catalog, item, PAGE, "g1", "g2")
    assert (await all_rows(catalog_url))["generation_terms"] == 6
    await catalog.jobs.cancel("build", now=26.0)

    await catalog.generations.remove("g2")

    assert await catalog.terms.look_up("g2", ["a"]) is None
    assert (await all_rows(catalog_url))["generation_terms"] == 3


async def test_a_deleted_collection_takes_all_its_terms_along(catalog: Catalog, catalog_url: str) -> None:
    await replace(catalog, [], PAGE)
    await accept(catalog, a_page(title="New"), job_id="new")
    (item,) = await claim(catalog)
    await catalog.work.begin_replacing("g1", {item: DocumentTerms.of(PAGE)})

    await catalog.collections.delete("pages", now=30.0)

    assert await all_rows(catalog_url) == {"generation_terms": 0, "changing_documents": 0}


async def test_a_generation_that_is_in_use_keeps_its_statistics_when_it_is_to_be_removed(catalog: Catalog) -> None:
    await replace(catalog, [], PAGE)

    with pytest.raises(Conflict, match="in use"):
        await catalog.generations.remove("g1")

    assert await catalog.terms.look_up("g1", ["a"]) == TermStatistics(2, 5, {"a": 2})


async def test_others_write_while_many_terms_are_dropped(
    catalog: Catalog, second_catalog: Catalog, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(term_statistics, "_ROWS_PER_TRANSACTION", 2)
    await replace(catalog, [], ["a b c d e f g h i"])
    await a_collection(catalog, "other", generation_id="g0")

    deleting = asyncio.create_task(catalog.collections.delete("pages", now=30.0))
    between = 0
    while not deleting.done():
        await second_catalog.generations.mark_optimized("g0", between)
        between += 1
    await deleting

    assert between > 1


async def test_a_generation_changed_by_a_process_that_does_not_count_has_no_statistics(
    catalog: Catalog, catalog_url: str
) -> None:
    await replace(catalog, [], PAGE)
    database = await Database.open(catalog_url)
    async with database.write() as connection:  # what an earlier version of ingest does
        await connection.execute(update(generations).values(revision=generations.c.revision + 1))
    await database.close()
    assert await catalog.terms.look_up("g1", ["a"]) is None

    await replace(catalog, PAGE, ["a"])

    assert await catalog.terms.look_up("g1", ["a"]) is None


async def test_of_an_older_catalog_only_empty_generations_have_statistics(catalog: Catalog, catalog_url: str) -> None:
    def back_and_forth(connection: Connection) -> None:
        config = Config()
        config.set_main_option("script_location", "services.shared.catalog:migrations")
        config.attributes["connection"] = connection
        command.downgrade(config, "0003")
        migrate(connection)

    await replace(catalog, [], PAGE)
    await a_collection(catalog, "empty", generation_id="g0")
    database = await Database.open(catalog_url)
    async with database.write() as connection:
        await connection.run_sync(back_and_forth)
    await database.close()

    assert await catalog.terms.look_up("g1", ["a"]) is None
    assert await catalog.terms.look_up("g0", ["a"]) == TermStatistics(0, 0, {})
    assert await catalog.terms.missing() == ("g1",)


async def test_counts_equal_a_fresh_count_after_any_changes_and_deaths(catalog: Catalog) -> None:
    random = Random(5)
    applied: dict[str, list[str]] = {}  # what each document is
    indexed: dict[str, list[str]] = {}  # what the index holds of it, whatever became of the change
    for number in range(120):
        page_id = random.choice("pqrs")
        after = [" ".join(random.choices("abcdef", k=random.randint(0, 4))) for _ in range(random.randint(0, 3))]
        change = a_page(page_id, title=str(number)) if after else Delete(page_id)
        job = await accept(catalog, change, job_id=str(number))
        if job.done:  # nothing to delete
            continue
        for now in range(100, 100_000, 100):  # attempts, each after the lease of the one before
            (item,) = await claim(catalog, now=number * 100_000.0 + now)
            standing, terms = (DocumentTerms.of(chunks) for chunks in (indexed.get(page_id, []), after))
            if indexed.get(page_id) and standing != terms:
                await catalog.work.begin_replacing("g1", {item: standing})
            fate = random.random()
            if fate < 0.2:
                indexed[page_id] = [*indexed.get(page_id, []), *after]
                continue
            indexed[page_id] = after
            if fate < 0.4:
                continue
            if fate < 0.5:
                await catalog.work.fail(item, reason="no text", now=1.0, retry_at=None)
                break
            await commit(catalog, item, after)
            applied[page_id] = [] if item.action is Action.DELETE else after
            break

    chunks = [chunk for page in applied.values() for chunk in page]
    expected = DocumentTerms.of(chunks)
    assert chunks
    assert await catalog.terms.look_up("g1", list("abcdef")) == TermStatistics(
        len(chunks), expected.tokens, dict(expected.frequencies)
    )
