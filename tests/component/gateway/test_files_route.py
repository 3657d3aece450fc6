"""`POST /v1/collections/{c}/files`: what arrives at ingest, and what does not."""

import asyncio
import resource
from collections.abc import AsyncIterator

import httpx
import pytest

from plumbline.search.v1 import filter_pb2
from services.shared.runtime.errors import InvalidInput, NotFound
from tests.component.gateway.house import House, assert_problem

pytestmark = pytest.mark.asyncio(loop_scope="module")

FILES = "/v1/collections/papers/files"
FORM = {"content-type": "multipart/form-data; boundary=cut"}


def part(name: str, content: str, filename: str | None = None) -> str:
    named = f'; filename="{filename}"' if filename is not None else ""
    return f'--cut\r\nContent-Disposition: form-data; name="{name}"{named}\r\n\r\n{content}\r\n'


async def post(house: House, *parts: str, end: str = "--cut--\r\n") -> httpx.Response:
    return await house.http.post(FILES, content=("".join(parts) + end).encode(), headers=FORM)


async def test_files_arrive_with_their_names_bytes_and_metadata(house: House) -> None:
    response = await house.http.post(
        FILES,
        data={"metadata": '{"department": "physics", "year": 2021, "note": null}'},
        files=[
            ("file", ("ü.md", "# Größe\r\n--cut".encode(), "text/markdown")),
            ("file", ("b.bin", bytes(range(256)) * 4000)),
        ],
    )
    assert (response.status_code, response.json()) == (202, {"job_id": "j3"})
    assert house.ingest.files == {"ü.md": "# Größe\r\n--cut".encode(), "b.bin": bytes(range(256)) * 4000}
    (start,) = house.ingest.script.requests
    assert start.collection == "papers"
    assert dict(start.metadata) == {
        "department": filter_pb2.Value(text="physics"),
        "year": filter_pb2.Value(integer=2021),
    }


async def test_an_empty_file_is_a_file(house: House) -> None:
    assert (await post(house, part("file", "", "empty.txt"))).status_code == 202
    assert house.ingest.files == {"empty.txt": b""}


@pytest.mark.parametrize(
    ("parts", "field"),
    [
        ([], "file"),
        ([part("metadata", "{}")], "file"),
        ([part("metadata", "{"), part("file", "x", "a.txt")], "metadata"),
        ([part("metadata", "[]"), part("file", "x", "a.txt")], "metadata"),
        ([part("metadata", '{"year": [1]}'), part("file", "x", "a.txt")], "metadata.year"),
        ([part("metadata", " " * 70_000), part("file", "x", "a.txt")], "metadata"),
        ([part("file", "x", "a.txt"), part("metadata", "{}")], "metadata"),
        ([part("file", "x")], "file"),
        ([part("file", "x", "")], "file"),
        ([part("attachment", "x", "a.txt")], "attachment"),
    ],
)
async def test_an_upload_names_its_field_at_fault(house: House, parts: list[str], field: str) -> None:
    assert_problem(await post(house, *parts), 400, field=field)


async def test_a_broken_body_is_400_and_not_accepted(house: House) -> None:
    assert_problem(await post(house, part("file", "x", "a.txt"), end=""), 400, field="body")
    assert_problem(await post(house, part("file", "x", "a.txt"), end="--cu"), 400, field="body")
    assert_problem(await house.http.post(FILES, content=b"no parts at all", headers=FORM), 400, field="body")


async def test_another_content_type_is_415(house: House) -> None:
    assert_problem(await house.http.post(FILES, json={}), 415, field="content-type")
    no_boundary = {"content-type": "multipart/form-data"}
    assert_problem(await house.http.post(FILES, content=b"x", headers=no_boundary), 415, field="content-type")


async def test_what_ingest_refuses_reaches_the_caller(house: House) -> None:
    house.ingest.script.error = NotFound("collection 'papers' does not exist", field="collection")
    assert_problem(await post(house, part("file", "x", "a.txt")), 404, field="collection")


async def test_a_refusal_amid_a_large_upload_reaches_the_caller_every_time(house: House) -> None:
    house.ingest.refuses_after_s = 0.02  # a question to the catalog
    house.ingest.script.error = NotFound("collection 'nope' does not exist", field="collection")
    large = part("file", "x" * 9_000_000, "a.md")
    for _ in range(20):
        assert_problem(await post(house, large), 404, field="collection")


async def test_a_file_that_is_too_large_for_ingest_is_413(house: House) -> None:
    house.ingest.script.error = InvalidInput("the content is larger than 9 bytes", field="content")
    assert_problem(await post(house, part("file", "x" * 10, "a.txt")), 413, field="file")


async def test_a_name_that_is_not_utf8_is_refused_because_two_would_become_one(house: House) -> None:
    content = part("file", "x", "a.txt").encode().replace(b"a.txt", b"\xff.txt") + b"--cut--\r\n"
    assert_problem(await house.http.post(FILES, content=content, headers=FORM), 400, field="file")


async def test_a_caller_who_leaves_during_an_upload_leaves_nothing_behind(house: House) -> None:
    begun = asyncio.Event()

    async def half() -> AsyncIterator[bytes]:
        yield part("file", "x" * 100_000, "a.txt").encode()
        begun.set()
        await asyncio.Event().wait()

    posting = asyncio.ensure_future(house.http.post(FILES, content=half(), headers=FORM))
    await begun.wait()
    posting.cancel()
    async with asyncio.timeout(5):
        await house.ingest.upload_ended.wait()


async def test_a_large_file_passes_through_without_being_held(house: House) -> None:
    size, piece = 100_000_000, b"x" * 1_000_000

    async def large() -> AsyncIterator[bytes]:
        yield b'--cut\r\nContent-Disposition: form-data; name="file"; filename="big.txt"\r\n\r\n'
        for _ in range(size // len(piece)):
            yield piece
        yield b"\r\n--cut--\r\n"

    await post(house, part("file", "warm", "up.txt"))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    response = await house.http.post(FILES, content=large(), headers=FORM)
    grown_mib = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    assert response.status_code == 202
    assert house.ingest.uploaded_bytes == size + len("warm")
    assert grown_mib < 50  # caller, gateway and ingest share this process
