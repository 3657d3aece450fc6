"""A multipart body read piece by piece, so that a file of any size passes through without being held."""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from fastapi import Request
from pydantic import TypeAdapter, ValidationError
from python_multipart.exceptions import FormParserError
from python_multipart.multipart import MultipartParser, parse_options_header

from services.gateway.bodies.strict import Value
from services.gateway.ports import FileBegins
from services.gateway.request_body import body_pieces, of_another_kind, parsed_json
from services.shared.catalog.plain_faults import plain
from services.shared.index.fields import FieldValue
from services.shared.runtime.errors import InvalidInput

if TYPE_CHECKING:
    from python_multipart.multipart import MultipartCallbacks

MAX_METADATA_BYTES = 64 * 1024
_METADATA: TypeAdapter[dict[str, Value]] = TypeAdapter(dict[str, Value])


@dataclass(frozen=True, slots=True)
class PartBegins:
    """The next pieces are the bytes of this part; `filename` is None for a plain field."""

    name: str
    filename: str | None
    media_type: str


async def read_parts(request: Request, *, max_bytes: int) -> AsyncIterator[PartBegins | bytes]:
    """The parts of a multipart body in their order, each as its beginning and its bytes.

    Raises UnacceptableBody 415 or 413, InvalidInput for a broken body and Cancelled when the caller goes away.
    """
    media_type, options = parse_options_header(request.headers.get("content-type", ""))
    if media_type != b"multipart/form-data" or not options.get(b"boundary"):
        raise of_another_kind("send multipart/form-data with a boundary")
    collector = _Collector()
    parser = MultipartParser(options[b"boundary"], collector.callbacks())
    try:
        async for chunk in body_pieces(request, max_bytes=max_bytes):
            parser.write(chunk)
            for piece in collector.take():
                yield piece
    except FormParserError:
        raise InvalidInput("the body is not well-formed multipart/form-data", field="body") from None
    if not collector.is_complete:
        raise InvalidInput("the body ends before its last boundary", field="body")


class _Collector:
    """Gathers what the parser calls back with between two reads."""

    def __init__(self) -> None:
        self.is_complete = False
        self._pieces: list[PartBegins | bytes] = []
        self._headers: dict[str, bytes] = {}
        self._name, self._value = b"", b""

    def callbacks(self) -> "MultipartCallbacks":
        return {
            "on_part_begin": self._headers.clear,
            "on_header_field": self._on_header_field,
            "on_header_value": self._on_header_value,
            "on_header_end": self._on_header_end,
            "on_headers_finished": self._on_headers_finished,
            "on_part_data": lambda data, start, end: self._pieces.append(data[start:end]),
            "on_end": self._on_end,
        }

    def take(self) -> list[PartBegins | bytes]:
        pieces, self._pieces = self._pieces, []
        return pieces

    def _on_header_field(self, data: bytes, start: int, end: int) -> None:
        self._name += data[start:end]

    def _on_header_value(self, data: bytes, start: int, end: int) -> None:
        self._value += data[start:end]

    def _on_header_end(self) -> None:
        self._headers[self._name.decode("latin-1").lower()] = self._value
        self._name, self._value = b"", b""

    def _on_headers_finished(self) -> None:
        _, options = parse_options_header(self._headers.get("content-disposition", b""))
        filename = options.get(b"filename")
        self._pieces.append(
            PartBegins(
                name=options.get(b"name", b"").decode(errors="replace"),
                filename=None if filename is None else _filename(filename),
                media_type=self._headers.get("content-type", b"").decode("latin-1"),
            )
        )

    def _on_end(self) -> None:
        self.is_complete = True


def _filename(raw: bytes) -> str:
    try:
        return raw.decode()
    except UnicodeDecodeError:  # replacement characters would make one name of two
        raise InvalidInput("a file's name is UTF-8", field="file") from None


async def files_of(
    parts: AsyncIterator[PartBegins | bytes],
) -> tuple[dict[str, FieldValue], AsyncIterator[FileBegins | bytes]]:
    """The metadata for all files, and the files, which are read on as they are iterated.

    The field `metadata` stands before the files, because these are passed on while they arrive.
    Raises InvalidInput, also while the files are iterated, for any other field and when there is no file.
    """
    raw = bytearray()
    async for piece in parts:
        if isinstance(piece, bytes):
            raw += piece
            if len(raw) > MAX_METADATA_BYTES:
                raise InvalidInput(f"metadata has at most {MAX_METADATA_BYTES:,} bytes", field="metadata")
        elif piece.name != "metadata":
            return _metadata(bytes(raw)), _files(piece, parts)
    raise InvalidInput("send at least one file in a field named `file`", field="file")


async def _files(first: PartBegins, parts: AsyncIterator[PartBegins | bytes]) -> AsyncIterator[FileBegins | bytes]:
    yield _file(first)
    async for piece in parts:
        yield piece if isinstance(piece, bytes) else _file(piece)


def _file(part: PartBegins) -> FileBegins:
    if part.name == "metadata":
        raise InvalidInput("put the field `metadata` before the files, and only once", field="metadata")
    if part.name != "file":
        raise InvalidInput("there are two fields: `metadata`, and `file` for each file", field=part.name or "body")
    if not part.filename:
        raise InvalidInput("a file needs a filename", field="file")
    return FileBegins(part.filename, part.media_type)


def _metadata(raw: bytes) -> dict[str, FieldValue]:
    if not raw:
        return {}
    try:
        given = _METADATA.validate_python(parsed_json(raw, field="metadata"))
    except ValidationError as error:
        fault = error.errors(include_url=False, include_input=False)[0]
        field = ".".join(["metadata", *(str(step) for step in fault["loc"])])
        raise InvalidInput(plain(fault), field=field) from None
    return {name: value for name, value in given.items() if value is not None}
