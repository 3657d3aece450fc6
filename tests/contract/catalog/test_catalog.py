"""Opening, failing and surviving."""

import asyncio
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from sqlalchemy import text

from services.shared.catalog.catalog import Catalog
from services.shared.catalog.database import Database
from services.shared.runtime.errors import DependencyUnavailable, InvalidInput
from tests.contract.catalog.examples import a_collection, a_page, accept, claim

ROOT = Path(__file__).parents[3]


async def test_opening_twice_keeps_what_is_there(catalog: Catalog, catalog_url: str) -> None:
    before = await catalog.collections.get("pages")

    again = await Catalog.open(catalog_url)

    assert await again.collections.get("pages") == before
    await again.close()


async def test_read_sees_one_state_while_another_process_writes(catalog: Catalog, catalog_url: str) -> None:
    count = text("SELECT count(*) FROM work_items")
    database = await Database.open(catalog_url)
    async with database.read() as connection:
        before = await connection.scalar(count)
        await accept(catalog, a_page())
        assert await connection.scalar(count) == before == 0
    await database.close()


async def test_write_that_is_cancelled_within_a_statement_blocks_nobody(catalog: Catalog, catalog_url: str) -> None:
    database = await Database.open(catalog_url)
    begun = asyncio.Event()
    kept = []  # as a traceback keeps it
    far = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3000000) SELECT max(i) FROM n"

    async def read_and_count_far() -> None:
        async with database.write() as connection:
            rows = await connection.stream(text("SELECT name FROM collections UNION ALL SELECT 'x'"))
            kept.append(rows)
            await rows.fetchone()
            begun.set()
            await connection.execute(text(far))

    writer = asyncio.create_task(read_and_count_far())
    await begun.wait()
    writer.cancel()
    with pytest.raises(asyncio.CancelledError):
        await writer

    assert (await accept(catalog, a_page())).total == 1
    await database.close()


async def test_cancelled_write_leaves_nothing_and_blocks_nobody(catalog: Catalog, catalog_url: str) -> None:
    database = await Database.open(catalog_url)
    begun = asyncio.Event()

    async def write_and_wait() -> None:
        async with database.write() as connection:
            await connection.execute(text("DELETE FROM collections"))
            begun.set()
            await asyncio.Event().wait()

    writer = asyncio.create_task(write_and_wait())
    await begun.wait()
    writer.cancel()
    with pytest.raises(asyncio.CancelledError):
        await writer

    assert (await accept(catalog, a_page())).total == 1
    async with database.write() as connection:
        assert await connection.scalar(text("SELECT count(*) FROM collections")) == 1
    await database.close()


_ACCEPT_AND_DIE = """
import asyncio, os, signal, sys
from services.shared.catalog.catalog import Catalog
from tests.contract.catalog.examples import a_page, accept, claim

async def main():
    catalog = await Catalog.open(sys.argv[1])
    await accept(catalog, a_page("a"), a_page("b"))
    await claim(catalog, owner="dead")
    os.kill(os.getpid(), signal.SIGKILL)

asyncio.run(main())
"""


async def test_what_was_accepted_survives_the_death_of_the_process(catalog: Catalog, catalog_url: str) -> None:
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", _ACCEPT_AND_DIE, catalog_url, env={**os.environ, "PYTHONPATH": str(ROOT)}
    )
    assert await process.wait() == -signal.SIGKILL

    assert (await catalog.jobs.get("job")).total == 2
    assert [item.document_id for item in await claim(catalog, now=20.0, limit=5)] == ["b"]
    assert [item.document_id for item in await claim(catalog, now=50.0, limit=5)] == ["a", "b"]


_CLAIM_ALL = """
import asyncio, sys
from services.shared.catalog.catalog import Catalog
from tests.contract.catalog.examples import claim

async def main():
    catalog = await Catalog.open(sys.argv[1])
    while items := await claim(catalog, owner=sys.argv[2], limit=3):
        print(*(item.document_id for item in items), sep="\\n")
    await catalog.close()

asyncio.run(main())
"""


async def test_processes_side_by_side_claim_each_item_once(catalog: Catalog, catalog_url: str) -> None:
    ids = [f"p{n:03}" for n in range(200)]
    await accept(catalog, *(a_page(one) for one in ids))

    processes = [
        await asyncio.create_subprocess_exec(
            sys.executable,
            "-c",
            _CLAIM_ALL,
            catalog_url,
            owner,
            stdout=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
        )
        for owner in ("first", "second")
    ]
    claimed = [(await process.communicate())[0].decode().split() for process in processes]

    assert sorted(claimed[0] + claimed[1]) == ids


async def test_folder_that_does_not_exist_is_a_dependency_that_does_not_answer(tmp_path: Path) -> None:
    with pytest.raises(DependencyUnavailable, match="the catalog does not answer: unable to open"):
        await Catalog.open(f"sqlite:///{tmp_path}/nowhere/catalog.db")


# The driver's thread may still be closing what it could not open when the loop of this test is gone.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
async def test_file_that_is_no_database_is_a_dependency_that_does_not_answer(tmp_path: Path) -> None:
    (tmp_path / "catalog.db").write_text("something else " * 100)

    with pytest.raises(DependencyUnavailable, match="not a database"):
        await Catalog.open(f"sqlite:///{tmp_path}/catalog.db")


async def test_full_disk_refuses_the_write_and_keeps_what_was_there(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/catalog.db"
    database = await Database.open(url)
    full = Catalog(database)
    await a_collection(full, "pages", generation_id="g1")
    async with database.read() as connection:  # the pool hands the same connection to the next transaction
        pages = await connection.scalar(text("PRAGMA page_count"))
        await connection.execute(text(f"PRAGMA max_page_count = {pages}"))

    with pytest.raises(DependencyUnavailable, match="the catalog does not answer: database or disk is full"):
        await accept(full, *(a_page(f"p{n}") for n in range(500)))

    assert await full.jobs.list(collection=None, limit=10) == ()
    assert (await full.collections.get("pages")).sequence == 0
    await full.close()


@pytest.mark.parametrize("url", ["", "nonsense", "sqlite://", "sqlite:///:memory:", "mysql://host/db", "/a/file.db"])
async def test_address_of_another_kind_is_refused(url: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        await Catalog.open(url)
    assert refused.value.field == "catalog_url"


async def test_catalog_opens_from_any_working_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, catalog_url: str
) -> None:
    monkeypatch.chdir(tmp_path)
    await (await Catalog.open(catalog_url)).close()
