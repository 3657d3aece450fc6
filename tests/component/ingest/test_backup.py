"""The backup and the restore that docs/ingest.md tells: its own commands, over real stores."""

import asyncio
import os
import re
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest
from sqlalchemy import make_url

from plumbline.ingest.v1 import ingest_pb2 as pb
from plumbline.ingest.v1.ingest_pb2_grpc import IngestServiceStub
from services.ingest.settings import IngestSettings
from services.local.postgres_server import installed_programs
from services.shared.catalog.catalog import Catalog
from services.shared.index.lance_index import LanceIndex
from tests.architecture.source_files import ROOT
from tests.component.ingest.conftest import TIMEOUT_S, running_ingest, variables

DOCUMENTS = 12


def told(name: str) -> str:
    """The commands of this name in the page."""
    page = (ROOT / "docs" / "ingest.md").read_text()
    found = re.search(rf"^( *)```sh {name}\n(.*?)^ *```$", page, re.DOTALL | re.MULTILINE)
    assert found, name
    return found[2]


async def run(name: str, environment: Mapping[str, str]) -> str:
    """Run the page's commands and return what they say; they must succeed."""
    path = os.pathsep.join([str(Path(sys.executable).parent), environment.get("PATH", ""), os.environ["PATH"]])
    process = await asyncio.create_subprocess_exec(
        "bash", "-euo", "pipefail", "-c", told(name),
        env=os.environ | environment | {"PATH": path}, cwd=ROOT,
        stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
    )  # fmt: skip
    output, errors = await process.communicate()
    assert process.returncode == 0, errors.decode()
    return output.decode()


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.postgres)])
def engine(request: pytest.FixtureRequest) -> str:
    engine: str = request.param
    return engine


@pytest.fixture
def settings(engine: str, request: pytest.FixtureRequest, settings: IngestSettings) -> IngestSettings:
    if engine == "sqlite":
        return settings
    url: str = request.getfixturevalue("postgres_catalog_url")
    return IngestSettings(**(settings.model_dump() | {"catalog_url": url}))


@pytest.fixture
def environment(
    engine: str, settings: IngestSettings, tmp_path: Path, request: pytest.FixtureRequest
) -> Mapping[str, str]:
    """What the page says that its commands expect."""
    (tmp_path / "backup").mkdir()
    common = variables(settings) | {"BACKUP": str(tmp_path / "backup"), "BLOBS": settings.blobs_url}
    url = settings.catalog_url.get_secret_value()
    if engine == "sqlite":
        return common | {"CATALOG": str(tmp_path / "catalog.db")}
    server: str = request.getfixturevalue("postgres_url")
    database = make_url(url).database or ""
    programs = {"PATH": str(installed_programs())}
    return common | programs | {"CATALOG_URL": url, "SERVER_URL": server, "DATABASE": database}


async def put(stub: IngestServiceStub, *documents: pb.Document) -> None:
    request = pb.PutDocumentsRequest(collection="notes", documents=documents)
    await ended(stub, (await stub.PutDocuments(request, timeout=TIMEOUT_S)).job_id)


async def ended(stub: IngestServiceStub, job_id: str) -> None:
    async for response in stub.WatchJob(pb.WatchJobRequest(job_id=job_id), timeout=TIMEOUT_S):
        job = response.job
    assert (job.state, job.outcomes.failed) == (pb.JOB_STATE_SUCCEEDED, 0)


def a_note(number: int, text: str = "Of the time of the backup.") -> pb.Document:
    return pb.Document(id=f"n{number}", title=f"Note {number}", text=text)


async def held(settings: IngestSettings) -> dict[str, tuple[str, str]]:
    """The document and the text of every chunk by id, from the index."""
    catalog = await Catalog.open(settings.catalog_url.get_secret_value())
    index = await LanceIndex.open(Path(settings.index_folder or ""))
    generation_id = (await catalog.collections.get("notes")).active.id
    ids = [key.chunk_id async for keys in index.scan(generation_id) for key in keys]
    chunks = await index.fetch(generation_id, ids, vectors=False)
    await index.close()
    await catalog.close()
    return {chunk.chunk_id: (chunk.document_id, chunk.text) for chunk in chunks}


@pytest.mark.parametrize("index_is_lost", [True, False], ids=["index lost", "newer index kept"])
async def test_restored_stores_hold_what_was_there_at_the_backup_and_go_on(
    engine: str, settings: IngestSettings, environment: Mapping[str, str], index_is_lost: bool
) -> None:
    async with running_ingest(settings) as stub:
        notes = pb.Collection(name="notes", profile="docs", locale="en")
        await stub.CreateCollection(pb.CreateCollectionRequest(collection=notes), timeout=TIMEOUT_S)
        await put(stub, *(a_note(number) for number in range(DOCUMENTS)))
        before = await held(settings)
        await run(f"backup-{engine}", environment)  # while ingest runs
        await put(stub, a_note(0, "After it."), a_note(DOCUMENTS, "After it."))
        gone = pb.DeleteDocumentsRequest(collection="notes", document_ids=["n1"])
        await ended(stub, (await stub.DeleteDocuments(gone, timeout=TIMEOUT_S)).job_id)
    shutil.rmtree(settings.blobs_url)
    if index_is_lost:
        shutil.rmtree(settings.index_folder or "")

    await run(f"restore-{engine}", environment)
    said = await run("reconcile", environment)

    assert said.endswith("done\n")
    assert await held(settings) == before
    assert (await run("reconcile", environment)).endswith("nothing differs\n")
    async with running_ingest(settings) as stub:
        await put(stub, a_note(0, "And on it goes."))
    texts = {text for document_id, text in (await held(settings)).values() if document_id == "n0"}
    assert texts == {"And on it goes."}
