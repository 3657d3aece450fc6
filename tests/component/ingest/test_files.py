"""Uploads: files as a stream, records that cannot be read, formats that are not."""

import json
from collections.abc import Iterator

import grpc
import pytest

from plumbline.ingest.v1 import ingest_pb2 as pb
from plumbline.search.v1 import filter_pb2
from tests.component.ingest.conftest import TIMEOUT_S, Ingest
from tests.component.ingest.test_collections import refused


def upload(*files: tuple[str, bytes], **metadata: int) -> Iterator[pb.UploadFilesRequest]:
    values = {name: filter_pb2.Value(integer=value) for name, value in metadata.items()}
    yield pb.UploadFilesRequest(upload=pb.UploadStart(collection="notes", metadata=values))
    for name, content in files:
        yield pb.UploadFilesRequest(file=pb.FileStart(name=name))
        for start in range(0, len(content), 7):
            yield pb.UploadFilesRequest(data=content[start : start + 7])


async def test_files_become_documents_with_the_title_that_they_carry(ingest: Ingest) -> None:
    parts = upload(("a.md", b"# Sets\n\nA set holds things.\n"), ("b/c.txt", b"Plain words."), year=2024)
    job = await ingest.finished((await ingest.stub.UploadFiles(parts, timeout=TIMEOUT_S)).job_id)
    assert (job.total, job.outcomes.embedded) == (2, 2)
    assert await ingest.texts("a.md") == ["A set holds things."]
    assert await ingest.texts("b/c.txt") == ["Plain words."]
    document = await ingest.catalog.documents.get("notes", "a.md")
    assert (document.title, document.content.metadata) == ("Sets", {"year": 2024})


async def test_a_bad_record_fails_alone_and_says_its_line(ingest: Ingest) -> None:
    lines = [
        json.dumps({"id": f"p{n}", "title": f"Paper {n}", "abstract": f"We show {n}.", "year": n}) for n in range(5)
    ]
    lines[2] = '{"id": "p2", "abstract": "no end'
    lines[3] = json.dumps({"id": "p3", "abstract": "x", "year": "old"})
    parts = upload(("papers.jsonl", "\n".join(lines).encode()))
    job = await ingest.finished((await ingest.stub.UploadFiles(parts, timeout=TIMEOUT_S)).job_id)
    assert (job.state, job.total, job.outcomes.embedded, job.outcomes.failed) == (pb.JOB_STATE_SUCCEEDED, 5, 3, 2)
    assert [failure.document_id for failure in job.failures] == ["papers.jsonl#3", "papers.jsonl#4"]
    assert "line 3 of papers.jsonl: the line is not a JSON object" in job.failures[0].reason
    assert await ingest.texts("p4") == ["We show 4."]
    assert (await ingest.catalog.documents.get("notes", "p4")).content.metadata == {"year": 4}


async def test_a_file_that_cannot_be_read_is_a_failed_document(ingest: Ingest) -> None:
    parts = upload(("good.md", b"# A\n\nText."), ("bad.txt", b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 4))
    job = await ingest.finished((await ingest.stub.UploadFiles(parts, timeout=TIMEOUT_S)).job_id)
    assert (job.outcomes.embedded, job.outcomes.failed) == (1, 1)
    assert job.failures[0].document_id == "bad.txt"


async def test_an_unknown_format_is_refused_with_the_whole_upload(ingest: Ingest) -> None:
    parts = upload(("a.md", b"# A\n\nText."), ("b.exe", b"MZ"))
    code, field = await refused(ingest.stub.UploadFiles(parts, timeout=TIMEOUT_S))
    assert (code, field) == (grpc.StatusCode.INVALID_ARGUMENT, "file")
    assert await ingest.catalog.work.waiting() == 0


@pytest.mark.parametrize(
    "parts", [[], [pb.UploadFilesRequest(data=b"x")], [pb.UploadFilesRequest(file=pb.FileStart(name="a.md"))]]
)
async def test_parts_out_of_order_are_refused(ingest: Ingest, parts: list[pb.UploadFilesRequest]) -> None:
    code, field = await refused(ingest.stub.UploadFiles(iter(parts), timeout=TIMEOUT_S))
    assert (code, field) == (grpc.StatusCode.INVALID_ARGUMENT, "upload")
