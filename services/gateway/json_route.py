"""Routes whose body is JSON: the right content type, within the limit, well-formed; each fault with its own status."""

from collections.abc import Callable, Coroutine
from http import HTTPStatus
from typing import Any

from fastapi import Request, Response
from fastapi.routing import APIRoute
from pydantic_core import from_json
from starlette.exceptions import HTTPException

from services.shared.runtime.errors import InvalidInput


class _ParsedRequest(Request):
    """A request whose body was read and parsed before FastAPI asks for it."""

    def __init__(self, request: Request, raw: bytes) -> None:
        super().__init__(request.scope, request.receive)
        self._raw = raw
        self._value = _parsed(raw)

    async def body(self) -> bytes:
        return self._raw

    async def json(self) -> Any:
        return self._value


def json_route(max_body_bytes: int) -> type[APIRoute]:
    """A kind of route that takes JSON bodies of at most `max_body_bytes`; without a body parameter it is a plain one.

    Raises HTTPException 415 for another content type and 413 for a larger body, of which no more than the limit is
    read, and InvalidInput for what is not JSON in UTF-8.
    """

    class JsonRoute(APIRoute):
        def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
            handle = super().get_route_handler()
            if self.body_field is None:
                return handle

            async def read_and_handle(request: Request) -> Response:
                return await handle(_ParsedRequest(request, await _read(request, max_body_bytes)))

            return read_and_handle

    return JsonRoute


async def _read(request: Request, max_bytes: int) -> bytes:
    media_type = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if media_type != "application/json":
        raise HTTPException(
            HTTPStatus.UNSUPPORTED_MEDIA_TYPE, "send a JSON body with the header Content-Type: application/json"
        )
    check_announced_length(request, max_bytes)
    raw = bytearray()
    async for piece in request.stream():
        raw += piece
        if len(raw) > max_bytes:
            raise too_large(max_bytes)
    return bytes(raw)


def check_announced_length(request: Request, max_bytes: int) -> None:
    """Refuse a body that announces itself as too large before a byte of it is read."""
    announced = request.headers.get("content-length", "")
    if announced.isdecimal() and int(announced) > max_bytes:
        raise too_large(max_bytes)


def too_large(max_bytes: int) -> HTTPException:
    """The refusal of a body over the limit."""
    return HTTPException(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"a body here has at most {max_bytes:,} bytes")


def _parsed(raw: bytes) -> Any:
    # Stricter than Python's own parser: no NaN, no broken UTF-8, no half surrogate pairs, no bottomless nesting.
    try:
        return from_json(raw, allow_inf_nan=False)
    except ValueError as error:
        raise InvalidInput(f"the body is not JSON in UTF-8: {error}", field="body") from None
