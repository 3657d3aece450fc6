import asyncio
import errno
import hashlib
import os
import uuid
from collections.abc import AsyncIterator, Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from fsspec.implementations.local import LocalFileOpener  # type: ignore[import-untyped]

from services.shared.blobs.blob_store import PREFIXES, STORED_AGAIN_AFTER, BlobStore
from services.shared.runtime.errors import DependencyUnavailable, Internal, InvalidInput, NotFound

CONTENT = "Ünite 1: 明月\n".encode() * 100
DIGEST = hashlib.sha256(CONTENT).hexdigest()
LATER = datetime.now(UTC) + timedelta(days=1)


@pytest.fixture(params=["folder", "bucket"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> BlobStore:
    """A folder, and a store without folders and renames as buckets are."""
    url = {"folder": str(tmp_path / "blobs"), "bucket": f"memory://{uuid.uuid4().hex}"}[request.param]
    return BlobStore(url, max_bytes=10_000)


@pytest.fixture
def folder(tmp_path: Path) -> BlobStore:
    return BlobStore(str(tmp_path), max_bytes=10_000)


async def pieces(*parts: bytes) -> AsyncIterator[bytes]:
    for part in parts:
        yield part


def files_below(path: Path) -> list[str]:
    return sorted(str(one.relative_to(path)) for one in path.rglob("*") if one.is_file())


async def test_blob_comes_back_under_the_digest_of_its_bytes(store: BlobStore) -> None:
    assert await store.put(CONTENT) == DIGEST
    assert await store.get(DIGEST) == CONTENT


async def test_stream_is_stored_as_the_bytes_that_it_adds_up_to(store: BlobStore) -> None:
    assert await store.put(pieces(CONTENT[:7], b"", CONTENT[7:])) == DIGEST
    assert await store.get(DIGEST) == CONTENT


@pytest.mark.parametrize("again", [lambda: CONTENT, lambda: pieces(CONTENT)])
async def test_same_content_again_changes_nothing(
    store: BlobStore, again: Callable[[], bytes | AsyncIterator[bytes]]
) -> None:
    await store.put(CONTENT)

    assert await store.put(again()) == DIGEST
    assert await store.get(DIGEST) == CONTENT


async def test_same_content_from_many_writers_at_once_is_stored_once(folder: BlobStore, tmp_path: Path) -> None:
    digests = await asyncio.gather(*(folder.put(pieces(CONTENT)) for _ in range(10)))

    assert set(digests) == {DIGEST}
    assert files_below(tmp_path) == [f"{DIGEST[:2]}/{DIGEST[2:4]}/{DIGEST}"]


async def test_empty_content_is_a_blob(store: BlobStore) -> None:
    digest = await store.put(b"")
    assert await store.get(digest) == b""


async def test_blob_exists_once_it_is_stored(store: BlobStore) -> None:
    assert not await store.exists(DIGEST)
    await store.put(CONTENT)
    assert await store.exists(DIGEST)


async def test_blob_that_was_stored_lately_is_not_set_aside(store: BlobStore) -> None:
    await store.put(CONTENT)

    assert not await store.condemn(DIGEST, before=datetime.now(UTC) - timedelta(minutes=1))

    assert await store.condemned() == []


async def test_blob_that_is_set_aside_is_removed_only_when_its_time_has_come(store: BlobStore) -> None:
    await store.put(CONTENT)
    assert await store.condemn(DIGEST, before=LATER)
    assert (await store.condemned(), await store.digests(DIGEST[:2])) == ([DIGEST], [])

    assert not await store.remove_condemned(DIGEST, before=datetime.now(UTC) - timedelta(minutes=1))
    assert await store.remove_condemned(DIGEST, before=LATER)

    assert not await store.exists(DIGEST)
    with pytest.raises(NotFound, match=DIGEST):
        await store.get(DIGEST)


@pytest.mark.parametrize("use", ["get", "exists", "put", "restore", "size"])
async def test_blob_that_is_set_aside_is_put_back_by_whoever_uses_it(store: BlobStore, use: str) -> None:
    await store.put(CONTENT)
    await store.condemn(DIGEST, before=LATER)

    await getattr(store, use)(CONTENT if use == "put" else DIGEST)

    assert await store.digests(DIGEST[:2]) == [DIGEST]
    await store.remove_condemned(DIGEST, before=LATER)
    assert await store.get(DIGEST) == CONTENT


async def test_content_put_again_later_counts_as_stored_anew(folder: BlobStore, tmp_path: Path) -> None:
    await folder.put(CONTENT)
    long_ago = (datetime.now(UTC) - STORED_AGAIN_AFTER - timedelta(minutes=1)).timestamp()
    os.utime(tmp_path / DIGEST[:2] / DIGEST[2:4] / DIGEST, (long_ago, long_ago))

    await folder.put(CONTENT)

    assert not await folder.condemn(DIGEST, before=datetime.now(UTC) - timedelta(minutes=1))


async def test_setting_aside_what_another_process_has_is_no_error(store: BlobStore) -> None:
    assert not await store.condemn(DIGEST, before=LATER)
    assert not await store.remove_condemned(DIGEST, before=LATER)


async def test_digests_are_walked_by_their_first_digits(store: BlobStore) -> None:
    contents = [str(number).encode() for number in range(50)]
    digests = sorted([await store.put(content) for content in contents])

    assert [digest for prefix in PREFIXES for digest in await store.digests(prefix)] == digests


async def test_content_of_the_greatest_size_is_stored(store: BlobStore) -> None:
    assert await store.exists(await store.put(b"x" * 10_000))


@pytest.mark.parametrize("content", [lambda: b"x" * 10_001, lambda: pieces(b"x" * 9_999, b"xx")])
async def test_content_that_is_too_large_is_refused_and_leaves_nothing(
    folder: BlobStore, tmp_path: Path, content: Callable[[], bytes | AsyncIterator[bytes]]
) -> None:
    with pytest.raises(InvalidInput, match="larger than 10000 bytes") as refused:
        await folder.put(content())

    assert refused.value.field == "content"
    assert files_below(tmp_path) == []


async def test_stream_is_not_read_past_the_limit(folder: BlobStore) -> None:
    read = []

    async def endless() -> AsyncIterator[bytes]:
        while True:
            read.append(1)
            yield b"x" * 4_000

    with pytest.raises(InvalidInput):
        await folder.put(endless())
    assert len(read) == 3


async def test_stream_that_breaks_off_leaves_nothing(folder: BlobStore, tmp_path: Path) -> None:
    async def broken() -> AsyncIterator[bytes]:
        yield CONTENT
        raise ConnectionResetError("the client went away")

    with pytest.raises(ConnectionResetError):
        await folder.put(broken())
    assert files_below(tmp_path) == []


async def test_cancelled_upload_leaves_nothing(folder: BlobStore, tmp_path: Path) -> None:
    begun = asyncio.Event()

    async def waiting() -> AsyncIterator[bytes]:
        yield CONTENT
        begun.set()
        await asyncio.Event().wait()

    upload = asyncio.create_task(folder.put(waiting()))
    await begun.wait()
    upload.cancel()
    with pytest.raises(asyncio.CancelledError):
        await upload

    assert files_below(tmp_path) == []


async def test_bytes_are_synced_before_they_get_their_name_and_the_names_after(
    folder: BlobStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    steps: list[str] = []
    real_sync, real_replace = os.fsync, os.replace

    def sync(descriptor: int) -> None:
        steps.append(os.path.relpath(os.readlink(f"/proc/self/fd/{descriptor}"), tmp_path).split("/")[-1])
        real_sync(descriptor)

    def replace(source: str, target: str) -> None:
        steps.append("replace")
        assert Path(source).read_bytes() == CONTENT
        real_replace(source, target)

    monkeypatch.setattr(os, "fsync", sync)
    monkeypatch.setattr(os, "replace", replace)
    await folder.put(CONTENT)

    assert len(steps[0]) == 32  # the name of the upload
    assert steps[1:] == ["replace", DIGEST[2:4], DIGEST[:2], "."]

    steps.clear()
    await folder.put(CONTENT)
    assert steps == [DIGEST[2:4]]  # whoever stored it first may have died before that


async def test_full_disk_is_a_dependency_that_does_not_answer_and_leaves_nothing(
    folder: BlobStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(_self: object, _piece: bytes) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(LocalFileOpener, "write", full)
    with pytest.raises(DependencyUnavailable, match="the blob store does not answer: No space left on device"):
        await folder.put(CONTENT)

    assert files_below(tmp_path) == []


async def test_folder_that_cannot_be_written_is_a_dependency_that_does_not_answer(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")

    with pytest.raises(DependencyUnavailable):
        await BlobStore(str(tmp_path / "file"), max_bytes=10).put(b"x")


async def test_damaged_blob_is_never_handed_out(folder: BlobStore, tmp_path: Path) -> None:
    await folder.put(CONTENT)
    path = tmp_path / DIGEST[:2] / DIGEST[2:4] / DIGEST
    path.write_bytes(CONTENT[:-1] + b"?")

    with pytest.raises(Internal, match=DIGEST):
        await folder.get(DIGEST)


async def test_truncated_blob_is_mended_by_its_next_put(folder: BlobStore, tmp_path: Path) -> None:
    await folder.put(CONTENT)
    (tmp_path / DIGEST[:2] / DIGEST[2:4] / DIGEST).write_bytes(CONTENT[:10])

    await folder.put(CONTENT)

    assert await folder.get(DIGEST) == CONTENT


async def test_size_is_that_of_the_blob(store: BlobStore) -> None:
    assert await store.size(await store.put(CONTENT)) == len(CONTENT)
    with pytest.raises(NotFound):
        await store.size("0" * 64)


async def test_what_cut_off_uploads_left_is_swept_and_nothing_else(store: BlobStore) -> None:
    await store.put(CONTENT)
    left = f"{store._root}/incoming/left"
    store._files.makedirs(f"{store._root}/incoming", exist_ok=True)
    store._files.pipe_file(left, b"half")
    written = store._files.modified(left)

    assert await store.sweep_incoming(before=written) == 0
    assert await store.sweep_incoming(before=written + timedelta(seconds=1)) == 1

    assert not store._files.exists(left)
    assert await store.get(DIGEST) == CONTENT


async def test_sweeping_a_store_that_took_nothing_yet_is_no_error(store: BlobStore) -> None:
    assert await store.sweep_incoming(before=datetime.now(UTC)) == 0


@pytest.mark.parametrize("digest", ["", "../../etc/passwd", DIGEST.upper(), DIGEST[:-1], DIGEST + "\n"])
async def test_name_that_is_no_digest_is_refused(store: BlobStore, digest: str) -> None:
    for call in (store.get(digest), store.exists(digest), store.condemn(digest, before=LATER)):
        with pytest.raises(InvalidInput) as refused:
            await call
        assert refused.value.field == "digest"
