"""`/`: the console, a few static files that are read once at the start."""

import mimetypes
from http import HTTPStatus
from pathlib import Path

from fastapi import APIRouter, Response
from starlette.exceptions import HTTPException

FOLDER = Path(__file__).parent.parent / "console"
# Nothing but our own files: no inline script or style, no other origin, no frame around it.
_HEADERS = {
    "content-security-policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "referrer-policy": "no-referrer",
    "cache-control": "no-cache",
}


def console_routes() -> APIRouter:
    """The console's page and its files."""
    router = APIRouter(include_in_schema=False)
    files = {path.relative_to(FOLDER).as_posix(): path.read_bytes() for path in FOLDER.rglob("*") if path.is_file()}

    @router.head("/")
    @router.get("/")
    async def page() -> Response:
        return _file("index.html")

    @router.head("/console/{name:path}")
    @router.get("/console/{name:path}")
    async def file(name: str) -> Response:
        return _file(name)

    def _file(name: str) -> Response:
        content = files.get(name)
        if content is None:
            raise HTTPException(HTTPStatus.NOT_FOUND)
        return Response(content, media_type=mimetypes.guess_type(name)[0], headers=_HEADERS)

    return router
