"""The originals of documents, stored under the SHA-256 of their bytes in a folder or a bucket.

A stored blob never changes, and it is whole and durable as soon as its digest is known to the caller.
"""

import asyncio
import hashlib
import os
import re
import uuid
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime, timedelta
from functools import cache

from fsspec import AbstractFileSystem, url_to_fs
from fsspec.implementations.local import LocalFileSystem

from services.shared.runtime.errors import DependencyUnavailable, Internal, InvalidInput, NotFound

_DIGEST = re.compile(r"[0-9a-f]{64}")
# Below the root, so that a file is renamed and not copied.
_INCOMING = "incoming"
_CONDEMNED = "condemned"
PREFIXES = tuple(f"{number:02x}" for number in range(256))
"""The first digits of all digests, by which the store can be walked a part at a time."""

STORED_AGAIN_AFTER = timedelta(hours=1)
"""A blob that was stored longer ago is stored anew with the same content, so that collecting garbage sees it used."""


@contextmanager
def _mapped_errors() -> Iterator[None]:
    """What the storage reports, as one sentence without a path."""
    try:
        yield
    except OSError as error:
        raise DependencyUnavailable(
            f"the blob store does not answer: {error.strerror or type(error).__name__}", retry_after_s=1
        ) from error


class BlobStore:
    """Blobs below `url`, which fsspec understands: a folder (`/data/blobs`) or a bucket (`s3://name/path`).

    A blob has at most `max_bytes`. All methods raise DependencyUnavailable when the storage does not answer or is
    full, and never leave half a blob under a digest. Those that take a digest raise InvalidInput when it is none.
    """

    def __init__(self, url: str, *, max_bytes: int) -> None:
        self._files, self._root = url_to_fs(url)
        self._max_bytes = max_bytes

    async def put(self, content: bytes | AsyncIterator[bytes]) -> str:
        """The digest under which `content` is stored now; the same content again changes nothing.

        Raises InvalidInput when it is too large; a stream is read no further than that.
        """
        if isinstance(content, bytes):
            return await asyncio.to_thread(self._put_bytes, content)
        upload = await asyncio.to_thread(_Upload, self._files, self._root, self._max_bytes)
        try:
            async for piece in content:
                await asyncio.to_thread(upload.write, piece)
            return await asyncio.to_thread(upload.finish)
        finally:
            await asyncio.to_thread(upload.discard)

    async def get(self, digest: str) -> bytes:
        """The bytes, checked. Raises NotFound, and Internal when they are no longer what was stored."""
        return await asyncio.to_thread(self._get, digest)

    async def exists(self, digest: str) -> bool:
        """Whether the blob is stored."""
        return await asyncio.to_thread(self._exists, digest)

    async def size(self, digest: str) -> int:
        """The bytes of the blob. Raises NotFound."""
        return await asyncio.to_thread(self._size, digest)

    async def sweep_incoming(self, *, before: datetime) -> int:
        """Remove what uploads that were cut off left behind, untouched since `before`; how many there were."""
        return await asyncio.to_thread(self._sweep_incoming, before)

    async def digests(self, prefix: str) -> list[str]:
        """The digests of all blobs that begin with one of `PREFIXES`, in ascending order."""
        return await asyncio.to_thread(self._digests, prefix)

    async def condemn(self, digest: str, *, before: datetime) -> bool:
        """Set the blob aside unless it was stored since `before`; whether it is set aside now.

        `get` still finds it and puts it back, and so does storing its content again: nobody who uses it at this very
        moment loses it.
        """
        return await asyncio.to_thread(self._condemn, digest, before)

    async def condemned(self) -> list[str]:
        """The digests of all blobs that are set aside, in ascending order."""
        return await asyncio.to_thread(self._all_condemned)

    async def restore(self, digest: str) -> None:
        """Put the blob back if it is set aside."""
        await asyncio.to_thread(self._restore, digest)

    async def remove_condemned(self, digest: str, *, before: datetime) -> bool:
        """Remove the blob for good if it was set aside before `before`; whether it was."""
        return await asyncio.to_thread(self._remove_condemned, digest, before)

    def _put_bytes(self, content: bytes) -> str:
        digest = hashlib.sha256(content).hexdigest()
        if self._holds(digest, len(content)):
            return digest
        upload = _Upload(self._files, self._root, self._max_bytes)
        try:
            upload.write(content)
            return upload.finish()
        finally:
            upload.discard()

    @_mapped_errors()
    def _holds(self, digest: str, size: int) -> bool:
        """Whether the blob is stored, whole and durable."""
        path = _path(self._root, digest)
        if not self._files.exists(path) or self._files.size(path) != size:
            return False
        if self._files.modified(path) < datetime.now(UTC) - STORED_AGAIN_AFTER:
            return False
        if isinstance(self._files, LocalFileSystem):
            _sync_names(self._root, digest)  # whoever stored it may have died before that
        return True

    @_mapped_errors()
    def _get(self, digest: str) -> bytes:
        path = _path(self._root, digest)
        try:
            content: bytes = self._files.cat_file(path)
        except FileNotFoundError:
            if not self._restore(digest):
                raise NotFound(f"blob {digest} does not exist") from None
            content = self._files.cat_file(path)
        if hashlib.sha256(content).hexdigest() != digest:
            raise Internal(f"blob {digest} is damaged: its bytes have another digest")
        return content

    @_mapped_errors()
    def _exists(self, digest: str) -> bool:
        return bool(self._files.exists(_path(self._root, digest))) or self._restore(digest)

    @_mapped_errors()
    def _size(self, digest: str) -> int:
        path = _path(self._root, digest)
        try:
            return int(self._files.size(path))
        except FileNotFoundError:
            if not self._restore(digest):
                raise NotFound(f"blob {digest} does not exist") from None
            return int(self._files.size(path))

    @_mapped_errors()
    def _sweep_incoming(self, before: datetime) -> int:
        swept = 0
        for path in self._files.find(f"{self._root}/{_INCOMING}"):
            with suppress(FileNotFoundError):  # finished, or swept by another process
                if self._files.modified(path) < before:
                    self._files.rm_file(path)
                    swept += 1
        return swept

    @_mapped_errors()
    def _digests(self, prefix: str) -> list[str]:
        return sorted(name for name in _names(self._files, f"{self._root}/{prefix}") if _DIGEST.fullmatch(name))

    @_mapped_errors()
    def _condemn(self, digest: str, before: datetime) -> bool:
        path, aside = _path(self._root, digest), f"{self._root}/{_CONDEMNED}/{digest}"
        with suppress(FileNotFoundError):  # another process was first
            if self._files.modified(path) >= before:
                return False
            if isinstance(self._files, LocalFileSystem):
                os.makedirs(f"{self._root}/{_CONDEMNED}", exist_ok=True)
                os.replace(path, aside)
                os.utime(aside)  # from now on its age is the time since this
            else:
                self._files.mv(path, aside)
            return True
        return False

    @_mapped_errors()
    def _all_condemned(self) -> list[str]:
        return sorted(_names(self._files, f"{self._root}/{_CONDEMNED}"))

    @_mapped_errors()
    def _restore(self, digest: str) -> bool:
        path, aside = _path(self._root, digest), f"{self._root}/{_CONDEMNED}/{digest}"
        if self._files.exists(path):  # stored again meanwhile, or put back by another
            return True
        with suppress(FileNotFoundError):
            if isinstance(self._files, LocalFileSystem):
                os.makedirs(os.path.dirname(path), exist_ok=True)
                os.replace(aside, path)
                _sync_names(self._root, digest)
            else:
                self._files.mv(aside, path)
            return True
        return bool(self._files.exists(path))

    @_mapped_errors()
    def _remove_condemned(self, digest: str, before: datetime) -> bool:
        aside = f"{self._root}/{_CONDEMNED}/{digest}"
        with suppress(FileNotFoundError):
            if self._files.modified(aside) < before:
                self._files.rm_file(aside)
                return True
        return False


class _Upload:
    """One blob on its way in, under a name of its own until its digest is known. Blocking."""

    @_mapped_errors()
    def __init__(self, files: AbstractFileSystem, root: str, max_bytes: int) -> None:
        self._files, self._root, self._max_bytes = files, root, max_bytes
        self._is_folder = isinstance(files, LocalFileSystem)
        self._path = f"{root}/{_INCOMING}/{uuid.uuid4().hex}"
        if self._is_folder:
            os.makedirs(f"{root}/{_INCOMING}", exist_ok=True)
        self._file = files.open(self._path, "wb")
        self._hash = hashlib.sha256()
        self._size = 0
        self._finished = False

    @_mapped_errors()
    def write(self, piece: bytes) -> None:
        self._size += len(piece)
        if self._size > self._max_bytes:
            raise InvalidInput(f"the content is larger than {self._max_bytes} bytes", field="content")
        self._hash.update(piece)
        self._file.write(piece)

    @_mapped_errors()
    def finish(self) -> str:
        digest = self._hash.hexdigest()
        path = _path(self._root, digest)
        if self._is_folder:
            self._file.flush()
            os.fsync(self._file.fileno())
        self._file.close()
        if self._is_folder:
            os.makedirs(os.path.dirname(path), exist_ok=True)
            os.replace(self._path, path)
            _sync_names(self._root, digest)
        else:
            self._files.mv(self._path, path)
        self._finished = True
        return digest

    def discard(self) -> None:
        """Leave nothing behind, unless it is finished."""
        if not self._finished:
            with suppress(OSError):  # what ended the upload may keep it from being removed
                self._file.close()
            with suppress(OSError):
                self._files.rm_file(self._path)


def _path(root: str, digest: str) -> str:
    # Two levels, because folders with millions of names are slow to list and to back up.
    if not _DIGEST.fullmatch(digest):
        raise InvalidInput("a blob is named by its SHA-256, 64 lower-case hex digits", field="digest")
    return f"{root}/{digest[:2]}/{digest[2:4]}/{digest}"


def _names(files: AbstractFileSystem, folder: str) -> list[str]:
    """The names of all files below `folder`, none when it is not there."""
    return [path.rsplit("/", 1)[-1] for path in files.find(folder)]


def _sync_names(root: str, digest: str) -> None:
    """Make the names on the way to a blob in a folder as durable as its bytes are."""
    first, second = digest[:2], digest[2:4]
    _sync_folder(f"{root}/{first}/{second}")
    _sync_name_of_second(root, first, second)
    _sync_name_of_first(root, first)


# The names of folders never change again, so each is synced once in a process.
@cache
def _sync_name_of_second(root: str, first: str, second: str) -> None:
    _sync_folder(f"{root}/{first}")


@cache
def _sync_name_of_first(root: str, first: str) -> None:
    _sync_folder(root)


def _sync_folder(folder: str) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
