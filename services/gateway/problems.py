"""Every error as an RFC 9457 problem document with the request id, and nothing of our insides."""

import math
from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import Any

import structlog
from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from pydantic import BaseModel
from starlette.exceptions import HTTPException

from services.gateway.bodies.absent import Absent
from services.gateway.request_body import UnacceptableBody
from services.shared.catalog.plain_faults import plain
from services.shared.runtime.call import current_call
from services.shared.runtime.errors import (
    DependencyUnavailable,
    Internal,
    InvalidInput,
    Overloaded,
    PlumblineError,
    status_of,
)

log = structlog.get_logger()

PROBLEM_MEDIA_TYPE = "application/problem+json"
_MAX_ERRORS = 10
# Told when the error itself does not say when the same call may succeed.
_RETRY_AFTER_S = 1.0
# Titles of our own, because Python's phrases change with its version and `type` is made of them.
_HTTP_TITLES = {
    HTTPStatus.NOT_FOUND: "Not found",
    HTTPStatus.METHOD_NOT_ALLOWED: "Method not allowed",
    HTTPStatus.REQUEST_ENTITY_TOO_LARGE: "Body too large",
    HTTPStatus.UNSUPPORTED_MEDIA_TYPE: "Unsupported media type",
}
_HTTP_DETAILS = {
    HTTPStatus.NOT_FOUND: "there is nothing at this path",
    HTTPStatus.METHOD_NOT_ALLOWED: "this method is not possible here; the header Allow names those that are",
}


class FieldProblem(BaseModel):
    """One field at fault."""

    field: str
    detail: str


class Problem(BaseModel):
    """An RFC 9457 problem document."""

    type: str
    title: str
    status: int
    detail: str
    request_id: str
    field: Absent[str] = None
    errors: Absent[list[FieldProblem]] = None
    retry_after_s: Absent[float] = None


def problem_of(error: PlumblineError) -> Problem:
    """The document for `error`; an internal one keeps its message in the log."""
    status = status_of(error)
    detail = error.message
    if status.error is Internal:
        log.error("internal_error", reason=error.message)
        detail = "the request failed inside; its id finds it in the logs"
    retry_after_s = error.retry_after_s
    if retry_after_s is None and isinstance(error, DependencyUnavailable | Overloaded):
        retry_after_s = _RETRY_AFTER_S
    return Problem(
        type=_type(status.title),
        title=status.title,
        status=status.http,
        detail=detail,
        request_id=_request_id(),
        field=error.field,
        retry_after_s=retry_after_s,
    )


def problem_of_exception(error: Exception) -> Problem:
    """As `problem_of`; anything that is not one of our errors is logged with its trace and told as internal."""
    if isinstance(error, PlumblineError):
        return problem_of(error)
    log.error("request_failed", error=type(error).__name__, exc_info=error)
    return problem_of(Internal(type(error).__name__))


def problem_response(problem: Problem, headers: Mapping[str, str] | None = None) -> Response:
    """The document as a response, with Retry-After where it applies."""
    extra = dict(headers or {})
    if problem.retry_after_s is not None:
        extra["retry-after"] = str(math.ceil(problem.retry_after_s))
    return Response(problem.model_dump_json(), status_code=problem.status, headers=extra, media_type=PROBLEM_MEDIA_TYPE)


def problem_of_validation(faults: Sequence[Mapping[str, Any]]) -> Problem:
    """The document for pydantic's faults; the first one gives `field` and `detail`, all are in `errors`."""
    errors = [FieldProblem(field=_field(fault), detail=plain(fault)) for fault in faults[:_MAX_ERRORS]]
    problem = problem_of(InvalidInput(errors[0].detail, field=errors[0].field))
    return problem.model_copy(update={"errors": errors if len(errors) > 1 else None})


def add_problem_handlers(app: FastAPI, routes: Sequence[APIRoute]) -> None:
    """Answer every error that `app` raises with a problem document; `routes` are those that it has."""

    @app.exception_handler(PlumblineError)
    async def _ours(_: Request, error: PlumblineError) -> Response:
        return problem_response(problem_of(error))

    @app.exception_handler(RequestValidationError)
    async def _invalid(_: Request, error: RequestValidationError) -> Response:
        return problem_response(problem_of_validation(error.errors()))

    @app.exception_handler(HTTPException)
    async def _http(request: Request, error: HTTPException) -> Response:
        headers = dict(error.headers or {})
        if error.status_code == HTTPStatus.METHOD_NOT_ALLOWED:  # the framework names those of one route only
            same_path = [route for route in routes if route.path_regex.match(request.scope["path"])]
            headers["Allow"] = ", ".join(sorted({method for route in same_path for method in route.methods or ()}))
        return problem_response(_problem_of_http(error), headers)


def _problem_of_http(error: HTTPException) -> Problem:
    status = HTTPStatus(error.status_code)
    title = _HTTP_TITLES.get(status, status.phrase)
    detail = _HTTP_DETAILS.get(status, error.detail)
    field = error.field if isinstance(error, UnacceptableBody) else None
    return Problem(type=_type(title), title=title, status=status, detail=detail, request_id=_request_id(), field=field)


def _type(title: str) -> str:
    return "urn:plumbline:problem:" + title.lower().replace(" ", "-")


def _request_id() -> str:
    call = current_call()
    return call.request_id if call else ""


def _field(fault: Mapping[str, Any]) -> str:
    """The dotted path of the field as the caller wrote it: `documents[0].text`, or `limit` of the query."""
    part = fault.get("ctx", {}).get("part")
    path = ""
    for step in (*fault["loc"][1:], *([part] if part else [])):
        path += f"[{step}]" if isinstance(step, int) else f".{step}" if path else str(step)
    return path or "body"
