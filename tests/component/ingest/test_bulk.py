"""Bulk loads as processes of their own, over the real stores and the embedding service with the hashing encoder."""

import asyncio
import json
import os
import signal
import sys
from collections.abc import AsyncIterator, Mapping
from pathlib import Path

import pytest

from services.ingest.domain.shards import shard_of
from services.ingest.settings import IngestSettings
from services.shared.catalog.catalog import Catalog
from services.shared.catalog.declaration import declare
from services.shared.catalog.manifest import Manifest
from services.shared.index.lance_index import LanceIndex
from tests.architecture.source_files import ROOT
from tests.component.ingest.conftest import command, variables

RECORDS = 300


@pytest.fixture
async def catalog(settings: IngestSettings) -> AsyncIterator[Catalog]:
    """With the collection `papers`, whose generation `g1` has an index."""
    opened = await Catalog.open(settings.catalog_url.get_secret_value())
    declaration = declare("papers", profile="docs", locale="en", fields={"year": "integer"}, settings={})
    manifest = Manifest(
        model="hashing", weights_sha256="5" * 64, dimensions=384, profile="docs",
        chunk_target=400, chunk_overlap=50, chunk_minimum=100, analyzer_version="1",
    )  # fmt: skip
    index = await LanceIndex.open(Path(settings.index_folder or ""))
    await index.create_generation("g1", 384, declaration.fields)
    await index.close()
    await opened.collections.create(declaration, generation_id="g1", manifest=manifest, now=1.0)
    yield opened
    await opened.close()


@pytest.fixture
def papers(tmp_path: Path) -> Path:
    """A file of `RECORDS` records `p0`, `p1`, ..."""
    return written(tmp_path / "papers.jsonl", *(a_record(f"p{number}") for number in range(RECORDS)))


def a_record(record_id: str, text: str = "A text.") -> str:
    return json.dumps({"id": record_id, "title": f"Title of {record_id}", "abstract": text, "year": 2020})


def written(path: Path, *lines: str) -> Path:
    path.write_text("".join(f"{line}\n" for line in lines))
    return path


async def stored(catalog: Catalog, settings: IngestSettings) -> dict[str, list[str]]:
    """The texts that the index holds of each document of the catalog."""
    page = await catalog.documents.list("papers", after=None, limit=1_000)
    index = await LanceIndex.open(Path(settings.index_folder or ""))
    held = await index.chunks_of("g1", [document.id for document in page.documents])
    assert await index.count("g1") == sum(len(chunks) for chunks in held.values())
    await index.close()
    return {document_id: [chunk.text for chunk in chunks] for document_id, chunks in held.items()}


async def test_each_shard_loads_its_records_and_together_they_load_all(
    catalog: Catalog, settings: IngestSettings, papers: Path
) -> None:
    sizes = [sum(shard_of(f"p{number}", 2) == shard for number in range(RECORDS)) for shard in (0, 1)]
    load = ("bulk", "--input", str(papers), "--collection", "papers", "--shards", "2")

    for shard in (0, 1):
        told = f"shard {shard} of 2: {sizes[shard]} records, {sizes[shard]} embedded, 0 reused, 0 failed"
        assert await command(settings, *load, "--shard", str(shard)) == (0, [told])

    assert await stored(catalog, settings) == {f"p{number}": ["A text."] for number in range(RECORDS)}
    document = await catalog.documents.get("papers", "p7")
    assert (document.title, document.content.metadata) == ("Title of p7", {"year": 2020})


async def test_pod_of_an_indexed_job_takes_the_shard_of_its_index(
    catalog: Catalog, settings: IngestSettings, papers: Path
) -> None:
    load = ("bulk", "--input", str(papers), "--collection", "papers", "--shards", "30")

    _, (told,) = await command(settings, *load, environment={"JOB_COMPLETION_INDEX": "29"})

    assert told.startswith("shard 29 of 30: ")
    assert all(shard_of(document_id, 30) == 29 for document_id in await stored(catalog, settings))


async def test_same_shard_again_embeds_nothing(catalog: Catalog, settings: IngestSettings, papers: Path) -> None:
    load = ("bulk", "--input", str(papers), "--collection", "papers")
    await command(settings, *load)

    told = f"shard 0 of 1: {RECORDS} records, 0 embedded, {RECORDS} reused, 0 failed"
    assert await command(settings, *load) == (0, [told])


async def test_shard_that_was_killed_is_completed_by_another_run(
    catalog: Catalog, settings: IngestSettings, tmp_path: Path
) -> None:
    records = 2_000
    file = written(tmp_path / "many.jsonl", *(a_record(f"p{number}", "word " * 50) for number in range(records)))
    settings = settings.model_copy(update={"lease_s": 5.0})  # what the killed one holds comes back after it
    arguments = ("-m", "services.ingest", "bulk", "--input", str(file), "--collection", "papers")
    killed = await asyncio.create_subprocess_exec(
        sys.executable, *arguments, env=os.environ | variables(settings), cwd=ROOT, stdout=asyncio.subprocess.PIPE
    )
    while (await catalog.generations.get("g1")).documents < 200:
        assert killed.returncode is None, "it ended before it could be killed"
        await asyncio.sleep(0.01)
    killed.send_signal(signal.SIGKILL)
    await killed.wait()
    before = (await catalog.generations.get("g1")).documents
    assert before < records

    code, (told,) = await command(settings, *arguments[2:])

    assert code == 0
    assert told.endswith(" 0 failed")
    assert (await catalog.generations.get("g1")).documents == records
    assert await catalog.work.waiting() == 0
    index = await LanceIndex.open(Path(settings.index_folder or ""))
    assert await index.count("g1") == records
    await index.close()


async def test_line_that_is_no_record_fails_alone_and_is_named(
    catalog: Catalog, settings: IngestSettings, tmp_path: Path
) -> None:
    file = written(tmp_path / "mixed.jsonl", a_record("good"), "", '{"id": "empty"}', a_record("other"))

    code, lines = await command(settings, "bulk", "--input", str(file), "--collection", "papers")

    assert code == 1
    assert lines == [
        "failed: mixed.jsonl#3: line 3 of mixed.jsonl: a record needs one of text (or abstract), markdown and html, "
        "not none",
        "shard 0 of 1: 3 records, 2 embedded, 0 reused, 1 failed",
    ]
    assert set(await stored(catalog, settings)) == {"good", "other"}


async def test_later_line_of_one_document_holds(catalog: Catalog, settings: IngestSettings, tmp_path: Path) -> None:
    file = written(tmp_path / "twice.jsonl", a_record("p", "First."), a_record("q"), a_record("p", "Second."))

    await command(settings, "bulk", "--input", str(file), "--collection", "papers")

    assert await stored(catalog, settings) == {"p": ["Second."], "q": ["A text."]}


@pytest.mark.parametrize(
    ("arguments", "environment"),
    [
        (("--shards", "2"), {}),
        (("--shards", "2", "--shard", "2"), {}),
        (("--shards", "2", "--shard", "-1"), {}),
        (("--shards", "2"), {"JOB_COMPLETION_INDEX": "2"}),
    ],
    ids=["which one", "too high", "below 0", "more pods than shards"],
)
async def test_shard_that_there_is_not_is_refused(
    catalog: Catalog, settings: IngestSettings, papers: Path, arguments: tuple[str, ...], environment: Mapping[str, str]
) -> None:
    load = ("bulk", "--input", str(papers), "--collection", "papers", *arguments)
    assert await command(settings, *load, environment=environment) == (3, [])


async def test_missing_file_or_collection_is_refused(catalog: Catalog, settings: IngestSettings, papers: Path) -> None:
    assert await command(settings, "bulk", "--input", f"{papers}.gone", "--collection", "papers") == (3, [])
    assert await command(settings, "bulk", "--input", str(papers), "--collection", "other") == (3, [])


async def test_large_file_streams(catalog: Catalog, settings: IngestSettings, tmp_path: Path) -> None:
    """A shard of a file of 100 MB takes no more memory than one of a file of 0.1 MB."""
    padding = "word " * 200

    def file(name: str, records: int) -> Path:
        with (tmp_path / name).open("w") as lines:
            for number in range(records):
                lines.write(f"{a_record(f'p{number}', padding)}\n")
        return tmp_path / name

    small, large = file("small.jsonl", 100), file("large.jsonl", 95_000)
    assert large.stat().st_size > 100e6

    async def peak_mib(input_: Path, shards: int) -> float:
        load = ("bulk", "--input", str(input_), "--collection", "papers", "--shards", str(shards), "--shard", "0")
        code, lines = await command(settings, *load, launcher=(sys.executable, "-c", _WITH_PEAK))
        assert code == 0
        return float(lines[-1])

    assert await peak_mib(large, 950) - await peak_mib(small, 1) < 50


_WITH_PEAK = """
import resource, subprocess, sys
code = subprocess.call([sys.executable, *sys.argv[1:]])
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024)
sys.exit(code)
"""
