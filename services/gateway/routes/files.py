"""`POST /v1/collections/{c}/files`: files streamed on to ingest while they arrive."""

from http import HTTPStatus

from fastapi import APIRouter, Request

from services.gateway.bodies.documents import Accepted
from services.gateway.multipart import files_of, read_parts
from services.gateway.ports import Ingester
from services.gateway.request_body import too_large_content

_FORM = {
    "type": "object",
    "required": ["file"],
    "properties": {
        "metadata": {"type": "string", "description": "JSON: values of declared fields. Stands before the files."},
        "file": {"type": "array", "items": {"type": "string", "format": "binary"}},
    },
}


def file_routes(ingester: Ingester, *, max_upload_bytes: int) -> APIRouter:
    """Uploads."""
    router = APIRouter(tags=["documents"])

    @router.post(
        "/v1/collections/{collection}/files",
        status_code=HTTPStatus.ACCEPTED,
        openapi_extra={"requestBody": {"required": True, "content": {"multipart/form-data": {"schema": _FORM}}}},
    )
    async def upload(collection: str, request: Request) -> Accepted:
        """Accept files, all or none: Markdown, text, HTML, JSONL."""
        metadata, files = await files_of(read_parts(request, max_bytes=max_upload_bytes))
        with too_large_content(field="file"):
            return Accepted(job_id=await ingester.upload(collection, metadata, files))

    return router
