"""The body of a request as it arrives: what may come, how much of it, and that its caller may leave amid it."""

from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from http import HTTPStatus
from typing import Any

from fastapi import Request
from pydantic_core import from_json
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect

from services.shared.runtime.errors import Cancelled, InvalidInput


class UnacceptableBody(HTTPException):
    """A body of another kind than this route takes (415), or a larger one (413); `field` is the part at fault."""

    def __init__(self, status: HTTPStatus, detail: str, *, field: str) -> None:
        super().__init__(status, detail)
        self.field = field


def of_another_kind(detail: str) -> UnacceptableBody:
    """The refusal of a content type."""
    return UnacceptableBody(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, detail, field="content-type")


async def body_pieces(request: Request, *, max_bytes: int) -> AsyncIterator[bytes]:
    """The body, no more than the piece that passes `max_bytes` of it.

    One that announces itself as too large is refused before a byte of it is read. Raises UnacceptableBody 413 and
    Cancelled when the caller goes away.
    """
    announced = request.headers.get("content-length", "")
    if announced.isdecimal() and int(announced) > max_bytes:
        raise _too_large(max_bytes)
    size = 0
    try:
        async for piece in request.stream():
            size += len(piece)
            if size > max_bytes:
                raise _too_large(max_bytes)
            yield piece
    except ClientDisconnect:
        raise Cancelled("the caller went away amid the body") from None


def _too_large(max_bytes: int) -> UnacceptableBody:
    return UnacceptableBody(
        HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"a body here has at most {max_bytes:,} bytes", field="body"
    )


@contextmanager
def too_large_content(*, field: str) -> Iterator[None]:
    """Tell ingest's refusal of a content by its size as what it is over HTTP, naming the caller's `field`."""
    try:
        yield
    except InvalidInput as error:
        if error.field != "content":
            raise
        raise UnacceptableBody(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, error.message, field=field) from None


def parsed_json(raw: bytes, *, field: str) -> Any:
    """The value. Raises InvalidInput naming `field` for what is not JSON in UTF-8.

    Stricter than Python's own parser: no NaN, no broken UTF-8, no half surrogate pairs, no bottomless nesting.
    """
    try:
        return from_json(raw, allow_inf_nan=False)
    except ValueError as error:
        said = str(error)
        if said.startswith("recursion limit"):
            raise InvalidInput("the JSON is nested too deeply", field=field) from None
        raise InvalidInput(f"this is not JSON in UTF-8: {said}", field=field) from None
