"""`/v1/collections/{c}/documents`: read from the catalog, written through ingest."""

from http import HTTPStatus
from typing import Annotated

from fastapi import APIRouter, Query

from services.gateway.bodies.documents import Accepted, DocumentPage, DocumentsBody, DocumentView, DocumentWithChunks
from services.gateway.id_cursor import cursor_after, id_before
from services.gateway.json_route import json_route
from services.gateway.ports import CatalogReader, Ingester, Searcher
from services.gateway.request_body import too_large_content
from services.shared.catalog.documents import MAX_PAGE, Document
from services.shared.catalog.fields import check_document_id


def document_routes(
    catalog: CatalogReader, ingester: Ingester, searcher: Searcher, *, max_body_bytes: int
) -> APIRouter:
    """Documents. An id in a path is percent-encoded, slashes included or not."""
    router = APIRouter(tags=["documents"], route_class=json_route(max_body_bytes))

    @router.put("/v1/collections/{collection}/documents", status_code=HTTPStatus.ACCEPTED)
    async def put(collection: str, body: DocumentsBody) -> Accepted:
        """Accept documents, all or none; the job applies them."""
        with too_large_content(field="documents"):
            return Accepted(job_id=await ingester.put_documents(collection, body.documents))

    @router.get("/v1/collections/{collection}/documents")
    async def list_page(
        collection: str,
        limit: Annotated[int, Query(ge=1, le=MAX_PAGE)] = 100,
        cursor: Annotated[str | None, Query(max_length=4096)] = None,
    ) -> DocumentPage:
        """Accepted documents in the order of their ids."""
        page = await catalog.documents(collection, after=id_before(cursor), limit=limit)
        return DocumentPage(
            documents=[DocumentView(**_parts(document), chunks=document.chunks) for document in page.documents],
            next=cursor_after(page.next),
        )

    @router.get("/v1/collections/{collection}/documents/{document_id:any_id}")
    async def get(collection: str, document_id: str) -> DocumentWithChunks:
        """A document with the chunks that are searchable of it now."""
        check_document_id(document_id, field="document_id")
        document = await catalog.document(collection, document_id)
        return DocumentWithChunks(**_parts(document), chunks=await searcher.chunks(collection, document_id))

    @router.delete("/v1/collections/{collection}/documents/{document_id:any_id}", status_code=HTTPStatus.ACCEPTED)
    async def delete(collection: str, document_id: str) -> Accepted:
        """Accept a deletion; that the document is not there is no error."""
        check_document_id(document_id, field="document_id")
        return Accepted(job_id=await ingester.delete_document(collection, document_id))

    return router


def _parts(document: Document) -> dict[str, object]:
    content = document.content
    return {
        "id": content.id,
        "title": document.title,
        "uri": content.uri,
        "locale": content.locale,
        "date": content.date,
        "metadata": content.metadata,
    }
