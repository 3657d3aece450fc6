"""Routes whose body is JSON: the right content type, within the limit, well-formed; each fault with its own status."""

from collections.abc import Callable, Coroutine
from typing import Any

from fastapi import Request, Response
from fastapi.routing import APIRoute

from services.gateway.request_body import body_pieces, of_another_kind, parsed_json


class _ParsedRequest(Request):
    """A request whose body was read and parsed before FastAPI asks for it."""

    def __init__(self, request: Request, raw: bytes) -> None:
        super().__init__(request.scope, request.receive)
        self._raw = raw
        self._value = parsed_json(raw, field="body")

    async def body(self) -> bytes:
        return self._raw

    async def json(self) -> Any:
        return self._value


def json_route(max_body_bytes: int) -> type[APIRoute]:
    """A kind of route that takes JSON bodies of at most `max_body_bytes`; without a body parameter it is a plain one.

    Raises UnacceptableBody 415 for another content type and 413 for a larger body, of which no more than the limit is
    read, InvalidInput for what is not JSON in UTF-8, and Cancelled when the caller goes away.
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
        raise of_another_kind("send a JSON body with the header Content-Type: application/json")
    return b"".join([piece async for piece in body_pieces(request, max_bytes=max_bytes)])
