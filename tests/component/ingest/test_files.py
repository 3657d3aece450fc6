"""Uploads: files as a stream, records that cannot be read, formats that are not."""

import json
from collections.abc import Iterator

import grpc
import pytest

from plumbline.ingest.v1 import ingest_pb2 as pb
from plumbline.search.v1 import filter_pb2
from tests.component.ingest.conftest import TIMEOUT_S, Ingest
from tests.component.ingest.test_collections import refused


def upload(*files: tuple[str, bytes], piece: int = 7, **metadata: int) -> Iterator[pb.UploadFilesRequest]:
    values = {name: filter_pb2.Value(integer=value) for name, value in metadata.items()}
    yield pb.UploadFilesRequest(upload=pb.UploadStart(collection="notes", metadata=values))
    for name, content in files:
        yield pb.UploadFilesRequest(file=pb.FileStart(name=name))
        for start in range(0, len(content), piece):
            yield pb.UploadFilesRequest(data=content[start : start + piece])


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


GOOD = b'{"id": "good", "text": "Good words."}'


@pytest.mark.parametrize(
    ("bad", "reason"),
    [
        (b"[" * 100_000, "not a JSON object"),
        (b'{"id": "a", "text": "x", "year": ' + b"1" * 5_000 + b"}", "not a JSON object"),
        (b'{"id": "a", "text": "x", "year": NaN}', "not a JSON object"),
        (b'{"id": "a", "text": "x", "year": 1e999}', "not a JSON object"),
        (rb'{"id": "a", "text": "x", "title": "\ud800"}', "'title' holds half a surrogate pair"),
        (rb'{"id": "a", "text": "x", "uri": "\ud800"}', "'uri' holds half a surrogate pair"),
        (rb'{"id": "\ud800", "text": "x"}', "no control character"),
        (rb'{"id": "a", "text": "x", "topic": "\udfff"}', "'topic' holds half a surrogate pair"),
        (rb'{"id": "a", "text": "x", "metadata": {"topic": "\udfff"}}', "'topic' holds half a surrogate pair"),
        (rb'{"id": "a", "text": "x", "metadata": {"\ud800": 1}}', "is not declared"),
        (b'{"id": "a", "text": "x", "metadata": {"colour": "red"}}', "'colour' is not declared"),
        (b'{"id": "a", "text": "x", "metadata": ["year"]}', "'metadata' is an object"),
        (b'{"id": "a", "text": "x", "year": 1, "metadata": {"year": 2}}', "both in 'metadata' and beside it"),
        (b'{"id": "a", "text": "x", "title": "' + b"t" * 513 + b'"}', "'title' has 513 characters"),
        (b'{"id": "good", "text": "Other words."}', "'good' stands twice in this upload"),
    ],
)  # fmt: skip
async def test_no_line_can_lose_the_lines_beside_it(ingest: Ingest, bad: bytes, reason: str) -> None:
    parts = upload(("papers.jsonl", b"\n".join([GOOD, bad])), piece=4_096)
    job = await ingest.finished((await ingest.stub.UploadFiles(parts, timeout=TIMEOUT_S)).job_id)
    assert (job.outcomes.embedded, job.outcomes.failed) == (1, 1)
    assert job.failures[0].document_id == "papers.jsonl#2"
    assert job.failures[0].reason.startswith("line 2 of papers.jsonl: ")
    assert reason in job.failures[0].reason
    assert await ingest.texts("good") == ["Good words."]


async def test_metadata_of_a_record_stands_beside_its_parts_or_in_an_object_of_its_own(ingest: Ingest) -> None:
    record = json.dumps({"id": "a", "text": "x", "draft": True, "metadata": {"topic": "sets"}})
    parts = upload(("papers.jsonl", record.encode()), year=2024)
    await ingest.finished((await ingest.stub.UploadFiles(parts, timeout=TIMEOUT_S)).job_id)
    metadata = (await ingest.catalog.documents.get("notes", "a")).content.metadata
    assert metadata == {"year": 2024, "draft": True, "topic": "sets"}


@pytest.mark.parametrize(
    "files",
    [
        [("a.md", b"# A\n\nOne."), ("a.md", b"# A\n\nTwo.")],
        [("a.jsonl", GOOD), ("a.jsonl", GOOD)],
        [("a.jsonl", b'{"id": "a.md", "text": "x"}'), ("a.md", b"# A\n\nTwo.")],
    ],
)
async def test_a_name_that_stands_twice_is_refused_with_the_whole_upload(
    ingest: Ingest, files: list[tuple[str, bytes]]
) -> None:
    code, field = await refused(ingest.stub.UploadFiles(upload(*files), timeout=TIMEOUT_S))
    assert (code, field) == (grpc.StatusCode.INVALID_ARGUMENT, "file")
    assert await ingest.catalog.work.waiting() == 0


async def test_a_title_of_its_own_that_is_no_title_is_cut(ingest: Ingest) -> None:
    record = json.dumps({"id": "a", "html": f"<html><head><title>{'t' * 5_000}</title></head><p>Words.</p></html>"})
    parts = upload(("pages.jsonl", record.encode()), piece=4_096)
    await ingest.finished((await ingest.stub.UploadFiles(parts, timeout=TIMEOUT_S)).job_id)
    assert (await ingest.catalog.documents.get("notes", "a")).title == "t" * 512
    active = (await ingest.catalog.collections.get("notes")).active
    (chunk,) = await ingest.index.document_chunks(active.id, "a")
    assert len(chunk.context) <= 512


async def test_a_replacement_that_cannot_be_read_leaves_the_document_as_it_was(ingest: Ingest) -> None:
    await ingest.finished(
        (await ingest.stub.UploadFiles(upload(("a.md", b"# Old\n\nOld."), year=1), timeout=TIMEOUT_S)).job_id
    )
    unreadable = upload(("a.md", b"\x89PNG\r\n\x1a\n" + bytes(256)), year=2)
    job = await ingest.finished((await ingest.stub.UploadFiles(unreadable, timeout=TIMEOUT_S)).job_id)
    assert job.outcomes.failed == 1
    document = await ingest.catalog.documents.get("notes", "a.md")
    assert (document.title, document.content.metadata, document.chunks) == ("Old", {"year": 1}, 1)


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


async def test_a_large_upload_is_refused_with_its_reason_every_time(ingest: Ingest) -> None:
    def large(collection: str, name: str, metadata: dict[str, int]) -> Iterator[pb.UploadFilesRequest]:
        values = {field: filter_pb2.Value(integer=value) for field, value in metadata.items()}
        yield pb.UploadFilesRequest(upload=pb.UploadStart(collection=collection, metadata=values))
        yield pb.UploadFilesRequest(file=pb.FileStart(name=name))
        for _ in range(9):
            yield pb.UploadFilesRequest(data=bytes(1_000_000))

    refusals = {
        ("nope", "a.md"): (grpc.StatusCode.NOT_FOUND, "collection"),
        ("notes", "a.exe"): (grpc.StatusCode.INVALID_ARGUMENT, "file"),
        ("notes", "b.md"): (grpc.StatusCode.INVALID_ARGUMENT, "metadata.month"),
    }
    for (collection, name), refusal in refusals.items():
        metadata = {"month": 1} if name == "b.md" else {}
        for _ in range(7):
            parts = large(collection, name, metadata)
            assert await refused(ingest.stub.UploadFiles(parts, timeout=TIMEOUT_S)) == refusal
