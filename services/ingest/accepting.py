"""Accepting writes: everything is checked and durable before a job is named, or nothing is accepted."""

import asyncio
import hashlib
import uuid
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from services.ingest.domain.file_formats import FORMATS_BY_ENDING, FileFormat, file_format
from services.ingest.domain.records import UnreadableRecord, read_record, record_lines
from services.ingest.domain.shards import Line, portions
from services.ingest.metrics import IngestMetrics
from services.shared.blobs.blob_store import BlobStore
from services.shared.catalog.acceptance import Change
from services.shared.catalog.catalog import Catalog
from services.shared.catalog.collections import Collection
from services.shared.catalog.documents import Delete, Put, Refused
from services.shared.catalog.fields import (
    MAX_TITLE_LENGTH,
    MAX_URI_LENGTH,
    check_date,
    check_document_id,
    check_locale,
    check_metadata,
    check_text,
)
from services.shared.catalog.jobs import Job
from services.shared.runtime.errors import InvalidInput, Overloaded

MAX_DOCUMENTS_PER_CALL = 1000
_RETRY_AFTER_S = 5.0
_STORED_AT_ONCE = 16


@dataclass(frozen=True, slots=True)
class GivenDocument:
    """A document as a caller gives it; `content` are its original bytes, `path` says where the caller has it."""

    id: str
    content: bytes
    media_type: str
    path: str
    title: str = ""
    uri: str = ""
    locale: str = ""
    date: str = ""
    metadata: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class GivenFile:
    """A file as a caller gives it; its bytes can be read once."""

    name: str
    media_type: str
    content: AsyncIterator[bytes]


class Acceptance:
    """Takes documents, files and deletions for a collection; what it returns a job for is never lost."""

    def __init__(
        self,
        catalog: Catalog,
        blobs: BlobStore,
        metrics: IngestMetrics,
        *,
        max_waiting_documents: int,
        clock: Callable[[], float],
        on_accept: Callable[[], None],
    ) -> None:
        self._catalog = catalog
        self._blobs = blobs
        self._metrics = metrics
        self._max_waiting_documents = max_waiting_documents
        self._clock = clock
        self._on_accept = on_accept

    async def put_documents(
        self, collection_name: str, documents: Sequence[GivenDocument], *, idempotency_key: str | None
    ) -> Job:
        """The job of these documents, all or none of them. Raises InvalidInput, NotFound, Overloaded."""
        if not 1 <= len(documents) <= MAX_DOCUMENTS_PER_CALL:
            raise InvalidInput(f"give 1 to {MAX_DOCUMENTS_PER_CALL} documents in one call", field="documents")
        collection = await self._catalog.collections.get(collection_name)
        await self._require_room()
        for document in documents:  # all are checked before the first is stored
            _checked(document, collection, blob="", size=len(document.content))
        _require_different_ids(documents)
        digests = await self._stored([document.content for document in documents])
        puts = [
            _checked(one, collection, blob=digest, size=len(one.content))
            for one, digest in zip(documents, digests, strict=True)
        ]
        return await self._accept(collection, puts, idempotency_key)

    async def upload_files(
        self,
        collection_name: str,
        metadata: Mapping[str, object],
        files: AsyncIterator[GivenFile],
        *,
        idempotency_key: str | None,
    ) -> Job:
        """The job of all documents in these files, read one after the other.

        A record of a JSON Lines file that cannot be read, or whose document the upload has already, becomes a failed
        document of the job; a file of an unknown format or a name given twice is refused with the whole upload.
        """
        collection = await self._catalog.collections.get(collection_name)
        await self._require_room()
        check_metadata(collection.declaration.fields, metadata, path="metadata")
        changes: list[Change] = []
        names: set[str] = set()
        ids: set[str] = set()
        async for file in files:
            check_document_id(file.name, field="file")
            format_ = _required_format(file)
            if file.name in names or file.name in ids:
                raise InvalidInput(f"'{file.name}' stands twice in this upload; give each file once", field="file")
            names.add(file.name)
            blob = await self._blobs.put(file.content)
            if format_ is FileFormat.JSON_LINES:
                for portion in portions(record_lines(await self._blobs.get(blob))):
                    read = await self._records(file.name, portion, metadata, collection)
                    changes += _different(file.name, portion, read, ids)
            else:
                ids.add(file.name)
                size = await self._blobs.size(blob)
                changes.append(_file_put(file, format_, blob, size, metadata, collection))
        if not changes:
            raise InvalidInput("the upload holds no document", field="file")
        return await self._accept(collection, changes, idempotency_key)

    async def put_records(self, collection_name: str, lines: Sequence[Line], *, name: str) -> Job:
        """The job of the records in these lines of the file `name`; of two of one document the later one holds.

        A line that cannot be read becomes a failed document of the job. Raises NotFound, Overloaded.
        """
        collection = await self._catalog.collections.get(collection_name)
        await self._require_room()
        return await self._accept(collection, await self._records(name, lines, {}, collection), None)

    async def delete_documents(self, collection_name: str, document_ids: Sequence[str]) -> Job:
        """The job of these deletions."""
        if not 1 <= len(document_ids) <= MAX_DOCUMENTS_PER_CALL:
            raise InvalidInput(f"give 1 to {MAX_DOCUMENTS_PER_CALL} ids in one call", field="document_ids")
        collection = await self._catalog.collections.get(collection_name)
        await self._require_room()
        return await self._accept(collection, [Delete(id_) for id_ in dict.fromkeys(document_ids)], None)

    async def _stored(self, originals: Sequence[bytes]) -> list[str]:
        """The digests of these originals, in order, once all are durable.

        Several are on their way at once: a disk makes them durable together in the time of one.
        """
        gate = asyncio.Semaphore(_STORED_AT_ONCE)

        async def store(original: bytes) -> str:
            async with gate:
                return await self._blobs.put(original)

        try:
            async with asyncio.TaskGroup() as group:
                tasks = [group.create_task(store(original)) for original in originals]
        except ExceptionGroup as errors:
            raise errors.exceptions[0] from None
        return [task.result() for task in tasks]

    async def _require_room(self) -> None:
        waiting = await self._catalog.work.waiting()
        self._metrics.waiting.set(waiting)
        if waiting >= self._max_waiting_documents:
            raise Overloaded(f"{waiting} documents wait already; try again", retry_after_s=_RETRY_AFTER_S)

    async def _accept(self, collection: Collection, changes: Sequence[Change], idempotency_key: str | None) -> Job:
        job = await self._catalog.jobs.accept(
            collection.declaration.name,
            changes,
            job_id=uuid.uuid4().hex,
            now=self._clock(),
            idempotency_key=idempotency_key,
        )
        self._on_accept()
        return job

    async def _records(
        self,
        name: str,
        lines: Sequence[Line],
        metadata: Mapping[str, object],
        collection: Collection,
    ) -> list[Put | Refused]:
        """A put for each line that holds a document, and for each other one why it does not, in order.

        A document's original is its own line, so that any worker can read it alone.
        """
        read = [_read_record(name, line, metadata, collection) for line in lines]
        documents = [one for one in read if isinstance(one, GivenDocument)]
        digests = iter(await self._stored([document.content for document in documents]))
        return [
            _checked(one, collection, blob=next(digests), size=len(one.content))
            if isinstance(one, GivenDocument)
            else one
            for one in read
        ]


def _required_format(file: GivenFile) -> FileFormat:
    format_ = file_format(file.name, file.media_type)
    if format_ is None:
        endings = ", ".join(FORMATS_BY_ENDING)
        raise InvalidInput(f"'{file.name}' has a format that is not read; formats are {endings}", field="file")
    return format_


def _read_record(
    name: str, line: Line, metadata: Mapping[str, object], collection: Collection
) -> GivenDocument | Refused:
    number, content = line
    path = f"{name}#{number}"
    try:
        given = _given_record(content, path, metadata, collection)
        _checked(given, collection, blob="", size=len(content))
    except (InvalidInput, UnreadableRecord) as error:
        return Refused(path, f"line {number} of {name}: {error}")
    return given


def _different(
    name: str, lines: Sequence[Line], changes: Sequence[Put | Refused], ids: set[str]
) -> Iterator[Put | Refused]:
    """What becomes of the lines of an upload, puts of documents among `ids` refused; these grow by the others'."""
    for (number, _), change in zip(lines, changes, strict=True):
        if isinstance(change, Put) and change.id in ids:
            twice = f"'{change.id}' stands twice in this upload; give each document once"
            yield Refused(f"{name}#{number}", f"line {number} of {name}: {twice}")
            continue
        if isinstance(change, Put):
            ids.add(change.id)
        yield change


def _given_record(line: bytes, path: str, metadata: Mapping[str, object], collection: Collection) -> GivenDocument:
    record = read_record(line)
    declared = {name: value for name, value in record.other.items() if name in collection.declaration.fields}
    if twice := declared.keys() & record.metadata.keys():
        raise UnreadableRecord(f"'{min(twice)}' stands both in 'metadata' and beside it")
    return GivenDocument(
        id=record.id,
        content=line,
        media_type=FileFormat.JSON_LINES,
        path=path,
        title=record.title,
        uri=record.uri,
        locale=record.locale,
        date=record.date,
        metadata={**metadata, **declared, **record.metadata},
    )


def _file_put(
    file: GivenFile, format_: FileFormat, blob: str, size: int, metadata: Mapping[str, object], collection: Collection
) -> Put:
    """The document of a file that holds one; its name is its id, and its own title, once read, its title."""
    given = GivenDocument(id=file.name, content=b"", media_type=format_, path=f"file {file.name}", metadata=metadata)
    return _checked(given, collection, blob=blob, size=size)


def _checked(document: GivenDocument, collection: Collection, *, blob: str, size: int) -> Put:
    """The document as the catalog keeps it, its original `size` bytes. Raises InvalidInput naming `<path>.<part>`."""
    declaration, path = collection.declaration, document.path
    id_ = document.id or document.uri
    if not id_:
        raise InvalidInput("a document needs an id, or a uri to make one from", field=f"{path}.id")
    locale = check_locale(document.locale or declaration.locale, field=f"{path}.locale")
    title = check_text(document.title.strip(), max_length=MAX_TITLE_LENGTH, field=f"{path}.title")
    content = f"{locale}\n{document.media_type}\n{blob}\n{document.title}"
    return Put(
        id=check_document_id(id_, field=f"{path}.id"),
        title=title,
        uri=check_text(document.uri, max_length=MAX_URI_LENGTH, field=f"{path}.uri") or None,
        locale=locale,
        date=check_date(document.date, field=f"{path}.date") if document.date else None,
        metadata=check_metadata(declaration.fields, document.metadata, path=f"{path}.metadata"),
        media_type=document.media_type,
        blob=blob,
        size=size,
        content_digest=hashlib.sha256(content.encode()).hexdigest(),
    )


def _require_different_ids(documents: Sequence[GivenDocument]) -> None:
    seen: set[str] = set()
    for document in documents:
        id_ = document.id or document.uri
        if id_ in seen:
            raise InvalidInput(
                f"'{id_}' stands twice in this call; give each document once", field=f"{document.path}.id"
            )
        seen.add(id_)
