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
from datetime import datetime
from functools import cache

from fsspec import AbstractFileSystem, url_to_fs
from fsspec.implementations.local import LocalFileSystem

from services.shared.runtime.errors import DependencyUnavailable, Internal, InvalidInput, NotFound

_DIGEST = re.compile(r"[0-9a-f]{64}")
_INCOMING = "incoming"  # below the root, so that a finished file is renamed and not copied


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

    async def delete(self, digest: str) -> None:
        """Remove the blob; one that is not there is no error."""
        await asyncio.to_thread(self._delete, digest)

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
        if isinstance(self._files, LocalFileSystem):
            _sync_names(self._root, digest)  # whoever stored it may have died before that
        return True

    @_mapped_errors()
    def _get(self, digest: str) -> bytes:
        try:
            content: bytes = self._files.cat_file(_path(self._root, digest))
        except FileNotFoundError:
            raise NotFound(f"blob {digest} does not exist") from None
        if hashlib.sha256(content).hexdigest() != digest:
            raise Internal(f"blob {digest} is damaged: its bytes have another digest")
        return content

    @_mapped_errors()
    def _exists(self, digest: str) -> bool:
        return bool(self._files.exists(_path(self._root, digest)))

    @_mapped_errors()
    def _size(self, digest: str) -> int:
        try:
            return int(self._files.size(_path(self._root, digest)))
        except FileNotFoundError:
            raise NotFound(f"blob {digest} does not exist") from None

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
    def _delete(self, digest: str) -> None:
        with suppress(FileNotFoundError):
            self._files.rm_file(_path(self._root, digest))


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


def _sync_names(root: str, digest: str) -> None:
    """Make the names on the way to a blob in a folder as durable as its bytes are."""
    first, second = digest[:2], digest[2:4]
    _sync_folder(f"{root}/{first}/{second}")
    _sync_parents(root, first, second)


@cache
def _sync_parents(root: str, first: str, second: str) -> None:
    """Make the name of `root/<first>/<second>` durable, once in a process: it never changes again."""
    _sync_folder(f"{root}/{first}")
    _sync_folder(root)


def _sync_folder(folder: str) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
