"""What only a database server can do to its clients: go away, be full, be locked, and go on without a caller."""

import asyncio
import random
import signal
import uuid
from collections.abc import AsyncIterator
from contextlib import suppress

import psycopg
import pytest
from sqlalchemy import make_url, text

from services.local.postgres_server import running_server
from services.shared.catalog import database as database_module
from services.shared.catalog.acceptance import Outcome
from services.shared.catalog.catalog import Catalog
from services.shared.catalog.database import POOL_CONNECTIONS, Database
from services.shared.catalog.documents import Delete
from services.shared.runtime.errors import Conflict, DependencyUnavailable, NotFound
from tests.contract.catalog.examples import a_collection, a_page, accept, claim

pytestmark = pytest.mark.postgres


@pytest.fixture
def catalog_url(postgres_catalog_url: str) -> str:
    return postgres_catalog_url


@pytest.fixture
async def database(catalog_url: str) -> AsyncIterator[Database]:
    opened = await Database.open(catalog_url)
    yield opened
    await opened.close()


async def statements_of_others(catalog_url: str) -> list[str]:
    """What the server does at this moment in this database for anybody else."""
    async with await psycopg.AsyncConnection.connect(catalog_url) as connection:
        rows = await connection.execute(
            "SELECT query FROM pg_stat_activity WHERE datname = current_database() AND state <> 'idle'"
            " AND pid <> pg_backend_pid()"
        )
        return [row[0] for row in await rows.fetchall()]


async def end_all_connections(catalog_url: str) -> None:
    async with await psycopg.AsyncConnection.connect(catalog_url) as connection:
        await connection.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database()"
            " AND pid <> pg_backend_pid()"
        )


async def test_statement_ends_on_the_server_when_its_caller_goes_away(database: Database, catalog_url: str) -> None:
    async def sleep() -> None:
        async with database.read() as connection:
            await connection.execute(text("SELECT pg_sleep(100)"))

    caller = asyncio.create_task(sleep())
    while not await statements_of_others(catalog_url):
        pass
    caller.cancel()
    with pytest.raises(asyncio.CancelledError):
        await caller

    assert await statements_of_others(catalog_url) == []


async def test_connections_that_were_lost_between_two_calls_cost_no_call(catalog: Catalog, catalog_url: str) -> None:
    await end_all_connections(catalog_url)

    assert (await accept(catalog, a_page())).total == 1


async def test_connection_lost_within_a_transaction_leaves_nothing_behind(
    catalog: Catalog, database: Database, catalog_url: str
) -> None:
    with pytest.raises(DependencyUnavailable, match="the catalog does not answer"):
        async with database.write() as connection:
            await connection.execute(text("DELETE FROM collections"))
            await end_all_connections(catalog_url)
            await connection.execute(text("DELETE FROM jobs"))

    assert (await catalog.collections.get("pages")).active.id == "g1"


async def test_killed_server_is_a_dependency_that_does_not_answer_until_it_is_back() -> None:
    with running_server() as server:
        catalog = await Catalog.open(server.url)
        await a_collection(catalog, "pages", generation_id="g1")
        await accept(catalog, a_page())

        server.kill()
        with pytest.raises(DependencyUnavailable) as refused:
            await claim(catalog)
        server.start()

        assert make_url(server.url).password not in refused.value.message
        assert [item.document_id for item in await claim(catalog)] == ["page"]
        await catalog.close()


async def test_server_that_accepts_and_never_answers_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    with running_server() as server:
        monkeypatch.setattr(database_module, "TRANSACTION_TIMEOUT_S", 0.5)
        catalog = await Catalog.open(server.url)
        connected = await catalog.collections.list()
        server.signal_all(signal.SIGSTOP)
        try:
            with pytest.raises(DependencyUnavailable, match="does not answer in time"):
                await catalog.collections.list()
        finally:
            server.signal_all(signal.SIGCONT)
        assert await catalog.collections.list() == connected == ()
        await catalog.close()


async def test_more_transactions_than_connections_wait_and_are_refused_in_time(
    monkeypatch: pytest.MonkeyPatch, catalog_url: str
) -> None:
    monkeypatch.setattr(database_module, "BUSY_TIMEOUT_S", 0.2)
    database = await Database.open(catalog_url)
    all_busy, may_end = asyncio.Barrier(POOL_CONNECTIONS + 1), asyncio.Event()

    async def hold() -> None:
        async with database.read() as connection:
            await connection.execute(text("SELECT 1"))
            await all_busy.wait()
            await may_end.wait()

    async with asyncio.TaskGroup() as holders:
        for _ in range(POOL_CONNECTIONS):
            holders.create_task(hold())
        await all_busy.wait()
        with pytest.raises(DependencyUnavailable, match="all connections are busy"):
            async with database.read():
                pass
        may_end.set()

    async with database.read() as connection:
        assert await connection.scalar(text("SELECT 1")) == 1
    await database.close()


async def test_locked_collection_refuses_the_write_in_time(
    monkeypatch: pytest.MonkeyPatch, catalog: Catalog, database: Database, catalog_url: str
) -> None:
    monkeypatch.setattr(database_module, "BUSY_TIMEOUT_S", 0.2)
    impatient = await Catalog.open(catalog_url)
    async with database.write() as connection:
        await connection.execute(text("SELECT * FROM collections FOR UPDATE"))
        with pytest.raises(DependencyUnavailable, match="lock timeout"):
            await accept(impatient, a_page())

    assert (await accept(impatient, a_page())).total == 1
    await impatient.close()


async def test_process_that_stands_still_in_a_transaction_does_not_hold_others_up(
    monkeypatch: pytest.MonkeyPatch, catalog: Catalog, catalog_url: str
) -> None:
    monkeypatch.setattr(database_module, "_IDLE_IN_TRANSACTION_S", 1)
    database = await Database.open(catalog_url)
    with pytest.raises(DependencyUnavailable):
        async with database.write() as connection:
            await connection.execute(text("SELECT * FROM collections FOR UPDATE"))
            assert (await accept(catalog, a_page())).total == 1  # within the five seconds that a lock is waited for
            await connection.execute(text("SELECT 1"))
    await database.close()


async def test_wrong_password_is_told_without_it(catalog_url: str) -> None:
    wrong = make_url(catalog_url).set(password="not-the-one").render_as_string(hide_password=False)
    with pytest.raises(DependencyUnavailable, match="password authentication failed") as refused:
        await Catalog.open(wrong)
    assert "not-the-one" not in refused.value.message


@pytest.mark.parametrize("url", ["postgresql://", "postgresql://host", "postgresql://host:5432/"])
async def test_address_without_a_database_is_refused(url: str) -> None:
    with pytest.raises(Exception, match="postgresql://user:password@host:port/database"):
        await Catalog.open(url)


async def test_options_of_the_address_hold_beside_ours(catalog_url: str) -> None:
    database = await Database.open(f"{catalog_url}?options=-c%20application_name%3Dplumbline-ingest")
    async with database.read() as connection:
        assert await connection.scalar(text("SHOW application_name")) == "plumbline-ingest"
        assert await connection.scalar(text("SHOW lock_timeout")) == "5s"
    await database.close()


async def test_everything_at_once_never_waits_in_a_circle(catalog: Catalog, second_catalog: Catalog) -> None:
    # The server would end one of two writes that wait for each other, and the group fail with it.
    rounds, choose = 40, random.Random(7)
    catalogs = [catalog, second_catalog]

    async def accept_some(number: int) -> None:
        changes = [a_page(f"p{choose.randrange(8)}", title=f"{number}") for _ in range(4)] + [Delete("p0")]
        try:
            await accept(choose.choice(catalogs), *changes, job_id=f"job-{number}")
        except NotFound:
            await a_collection(choose.choice(catalogs), "pages", generation_id=f"g-{number}")

    async def cancel(number: int) -> None:
        with suppress(NotFound):  # it was for a deleted collection
            await choose.choice(catalogs).jobs.cancel(f"job-{number - 1}", now=11.0)

    async def work(number: int) -> None:
        one = choose.choice(catalogs)
        claimed = await claim(one, owner=f"w{number}", limit=3, now=20.0 + number)
        await one.work.renew(claimed, now=20.0 + number, lease_s=30.0)
        for item in claimed:
            if number % 5 == 0:
                await one.repairs.apply_again(item.collection, item.document_id, job_id=uuid.uuid4().hex, now=30.0)
            try:
                if number % 4 == 0:
                    await one.work.fail(item, reason="busy", now=30.0, retry_at=None if number % 8 else 31.0)
                    continue
                live = await one.generations.live("pages")
                await one.work.commit_applied(
                    item, chunk_ids={live_one.id: ["c"] for live_one in live}, outcome=Outcome.EMBEDDED, now=30.0
                )
            except Conflict:
                pass

    async def delete(number: int) -> None:
        if number % 20 == 19:
            await choose.choice(catalogs).collections.delete("pages", now=40.0)

    for number in range(rounds):
        async with asyncio.TaskGroup() as group:
            for step in (accept_some, work, work, work, cancel, delete):
                group.create_task(step(number))
