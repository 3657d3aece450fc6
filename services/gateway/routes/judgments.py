"""`/v1/collections/{c}/judgments`: read and written in the catalog."""

from collections.abc import Mapping
from dataclasses import asdict
from http import HTTPStatus
from typing import Annotated

from fastapi import APIRouter, Query

from services.gateway.bodies.filters import parse_filter
from services.gateway.bodies.judgments import JudgmentBody, JudgmentPage, JudgmentsBody, JudgmentView
from services.gateway.id_cursor import cursor_after, id_before
from services.gateway.json_route import json_route
from services.gateway.ports import CatalogReader, JudgmentStore
from services.shared.catalog.documents import MAX_PAGE
from services.shared.catalog.judgments import Judgment
from services.shared.index.fields import FieldType
from services.shared.index.filters import validate
from services.shared.runtime.errors import InvalidInput


def judgment_routes(catalog: CatalogReader, store: JudgmentStore, *, max_body_bytes: int) -> APIRouter:
    """Judged queries."""
    router = APIRouter(tags=["judgments"], route_class=json_route(max_body_bytes))

    @router.put("/v1/collections/{collection}/judgments", status_code=HTTPStatus.NO_CONTENT)
    async def put(collection: str, body: JudgmentsBody) -> None:
        """Keep judged queries, each in place of the one with its id. The documents need not exist yet."""
        fields = (await catalog.collection(collection)).declaration.fields
        _check_ids(body)
        for place, judgment in enumerate(body.judgments):
            _check_filter(judgment, fields, f"judgments[{place}]")
        await store.put_judgments(collection, [Judgment(**dict(judgment)) for judgment in body.judgments])

    @router.get("/v1/collections/{collection}/judgments")
    async def list_page(
        collection: str,
        limit: Annotated[int, Query(ge=1, le=MAX_PAGE)] = 100,
        cursor: Annotated[str | None, Query(max_length=4096)] = None,
    ) -> JudgmentPage:
        """Judged queries in the order of their ids."""
        page = await store.judgments(collection, after=id_before(cursor), limit=limit)
        return JudgmentPage(
            judgments=[JudgmentView(**asdict(judgment)) for judgment in page.judgments],
            next=cursor_after(page.next),
        )

    return router


def _check_ids(body: JudgmentsBody) -> None:
    """Raises InvalidInput when an id comes twice: neither could be meant to replace the other."""
    first: dict[str, int] = {}
    for place, judgment in enumerate(body.judgments):
        if (earlier := first.setdefault(judgment.id, place)) != place:
            raise InvalidInput(f"judgments[{earlier}] has the same id", field=f"judgments[{place}].id")


def _check_filter(judgment: JudgmentBody, fields: Mapping[str, FieldType], path: str) -> None:
    """Raises InvalidInput for a filter that a search in a collection with these fields would refuse."""
    try:
        parsed = parse_filter(judgment.filter)
        if parsed is not None:
            validate(parsed, fields)
    except InvalidInput as error:
        raise InvalidInput(error.message, field=f"{path}.{error.field}") from None
