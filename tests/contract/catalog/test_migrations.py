"""The schema goes forward and back with the data in place, and the release before each revision runs on it."""

import asyncio
from itertools import pairwise

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import Connection, MetaData, delete, insert, inspect, text, update

from services.shared.catalog.acceptance import Outcome
from services.shared.catalog.catalog import Catalog
from services.shared.catalog.documents import Delete, Refused
from services.shared.catalog.judgments import Judgment
from services.shared.catalog.schema import metadata
from services.shared.catalog.term_statistics import DocumentTerms
from tests.contract.catalog.examples import MANIFEST, a_collection, a_page, accept, claim
from tests.contract.catalog.revisions import Rows, go_to, known_revisions, rows, tables, within

REVISIONS = known_revisions()
STEPS = list(pairwise(REVISIONS))


async def fill(url: str) -> None:
    """A bit of everything that a catalog can hold."""
    catalog = await Catalog.open(url)
    await a_collection(catalog, "pages", generation_id="g1")
    await a_collection(catalog, "other", generation_id="o1")
    await accept(catalog, a_page("applied"), a_page("bad"), a_page("waits"), Delete("gone"), Refused("x", "no text"))
    applied, bad = await claim(catalog, limit=2)
    await catalog.work.commit_applied(
        applied, chunk_ids={"g1": ["c1", "c2"]}, terms={"g1": DocumentTerms.of(["w:a w:b", "w:a"])},
        outcome=Outcome.EMBEDDED, now=30.0, own_title="Own",
    )  # fmt: skip
    await catalog.work.fail(bad, reason="not a page", now=31.0, retry_at=None)
    await accept(catalog, a_page("applied", title="Changing"), job_id="second")
    for item, retry_at in zip(await claim(catalog, limit=2), (19.0, 1e9), strict=True):
        if item.document_id == "applied":
            await catalog.work.begin_replacing("g1", {item: DocumentTerms.of(["w:a w:b", "w:a"])})
        await catalog.work.fail(item, reason="busy", now=31.5, retry_at=retry_at)
    await catalog.builds.start("pages", generation_id="g2", manifest=MANIFEST, job_id="build", now=32.0)
    await catalog.judgments.put("pages", [Judgment("q1", "page", "en", {"field": "year"}, {"applied": 3, "waits": 0})])
    await catalog.close()


async def test_migrations_make_exactly_the_tables_of_the_schema(catalog_url: str) -> None:
    def differences(connection: Connection) -> list[object]:
        go_to(connection, "head")
        return list(compare_metadata(MigrationContext.configure(connection), metadata))

    assert await within(catalog_url, differences) == []


async def test_migrations_go_back_to_nothing_and_forward_again(catalog_url: str) -> None:
    def back(connection: Connection) -> list[str]:
        go_to(connection, "base")
        return inspect(connection).get_table_names()

    await fill(catalog_url)
    assert await within(catalog_url, back) == ["alembic_version"]
    await fill(catalog_url)


@pytest.mark.parametrize("revision", REVISIONS)
async def test_what_a_revision_knows_of_survives_the_way_back_to_it_and_forth(catalog_url: str, revision: str) -> None:
    def back(connection: Connection) -> tuple[MetaData, Rows]:
        go_to(connection, revision)
        declared = tables(connection)
        return declared, rows(connection, declared)

    await fill(catalog_url)
    newest = await within(catalog_url, lambda connection: rows(connection, tables(connection)))
    declared, before = await within(catalog_url, back)
    forth = await Catalog.open(catalog_url)

    assert before == {
        name: [{column.name: row[column.name] for column in declared.tables[name].columns} for row in newest[name]]
        for name in declared.tables
    }
    assert await within(catalog_url, lambda connection: rows(connection, declared)) == before
    assert [item.document_id for item in await claim(forth, limit=5)] == ["waits"]
    assert (await forth.documents.get("pages", "applied")).chunks == 2
    await forth.close()


@pytest.mark.parametrize(("before", "revision"), STEPS)
async def test_statements_of_the_release_before_run_on_a_revision(catalog_url: str, before: str, revision: str) -> None:
    """That release names its own columns in every statement: it must read, insert, change and delete by them."""

    def old_statements(connection: Connection) -> tuple[Rows, Rows]:
        go_to(connection, before)
        declared = tables(connection)
        go_to(connection, revision)
        held = rows(connection, declared)
        for table in reversed(declared.sorted_tables):
            connection.execute(delete(table))
        for table in declared.sorted_tables:
            connection.execute(insert(table), held[table.name])
            for row in held[table.name]:
                key = [column == row[column.name] for column in table.primary_key]
                connection.execute(update(table).where(*key).values(row))
        return held, rows(connection, declared)

    await fill(catalog_url)
    held, written = await within(catalog_url, old_statements)
    newer = await Catalog.open(catalog_url)

    assert all(held.values()), "every table of that release has rows"
    assert written == held
    assert [(await newer.documents.get("pages", one)).chunks for one in ("applied", "waits")] == [2, 0]
    assert (await accept(newer, a_page("new"), job_id="next")).total == 1
    await newer.close()


async def test_what_had_failed_before_failures_were_marked_is_marked(catalog: Catalog, catalog_url: str) -> None:
    await accept(catalog, a_page("bad"), a_page("good"))
    (item,) = await claim(catalog)
    await catalog.work.fail(item, reason="no text", now=20.0, retry_at=None)

    await within(catalog_url, lambda connection: go_to(connection, "0002"))
    await within(catalog_url, lambda connection: go_to(connection, "head"))

    page = await catalog.documents.list("pages", after=None, limit=10)
    assert [document.id for document in page.documents] == ["good"]


async def test_schema_newer_than_this_code_is_left_as_it_is(catalog: Catalog, catalog_url: str) -> None:
    await within(
        catalog_url, lambda connection: connection.execute(text("UPDATE alembic_version SET version_num = 'x'"))
    )

    newer = await Catalog.open(catalog_url)

    assert (await newer.collections.get("pages")).active.id == "g1"
    await newer.close()


async def test_processes_that_open_an_empty_catalog_together_all_succeed(catalog_url: str) -> None:
    opened = await asyncio.gather(*(Catalog.open(catalog_url) for _ in range(8)))

    await a_collection(opened[0], "pages", generation_id="g1")
    assert {(await one.collections.get("pages")).active.id for one in opened} == {"g1"}
    for one in opened:
        await one.close()


async def test_processes_that_open_an_older_catalog_together_migrate_it_once(catalog_url: str) -> None:
    await fill(catalog_url)
    await within(catalog_url, lambda connection: go_to(connection, REVISIONS[0]))

    opened = await asyncio.gather(*(Catalog.open(catalog_url) for _ in range(8)))

    versions = text("SELECT version_num FROM alembic_version")
    assert await within(catalog_url, lambda connection: connection.scalars(versions).all()) == REVISIONS[-1:]
    for one in opened:
        await one.close()
