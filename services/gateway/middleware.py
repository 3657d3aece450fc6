"""What happens around every request: its id, its deadline, its span, its metrics, and the last answer to any fault."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from opentelemetry.propagate import extract
from opentelemetry.trace import INVALID_SPAN, Span, SpanKind, Status, StatusCode
from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from services.gateway.address import check_encoding
from services.gateway.metrics import UNMATCHED, GatewayMetrics
from services.gateway.problems import problem_of_exception, problem_response
from services.shared.runtime.call import Call, new_call, serving
from services.shared.runtime.errors import Cancelled, status_of
from services.shared.runtime.telemetry import Telemetry

REQUEST_ID_HEADER = "x-request-id"
# Asked every few seconds by machines; a span for each would bury the others.
_WITHOUT_SPAN = frozenset(("/healthz", "/readyz", "/metrics"))
_METHODS = frozenset(("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"))
_SERVER_ERROR = 500
_WENT_AWAY = status_of(Cancelled("")).http


class RequestMiddleware:
    """Wraps each request; `longest_s` ends it whatever the single calls inside may take."""

    def __init__(self, app: ASGIApp, *, telemetry: Telemetry, metrics: GatewayMetrics, longest_s: float) -> None:
        self._app = app
        self._tracer = telemetry.tracer
        self._metrics = metrics
        self._longest_s = longest_s

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        call = new_call(self._longest_s, headers.get(REQUEST_ID_HEADER))
        started = time.perf_counter()
        status: int | None = None

        async def send_with_id(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                added = MutableHeaders(scope=message)
                added[REQUEST_ID_HEADER] = call.request_id
                added["x-content-type-options"] = "nosniff"
            await send(message)

        with serving(call), self._spanned(scope, headers, call) as span, self._metrics.in_flight.track_inprogress():
            try:
                check_encoding(scope)
                await self._app(scope, receive, send_with_id)
            except Exception as error:
                response = problem_response(problem_of_exception(error))
                if status is not None:  # too late to say so: the broken connection tells it
                    raise
                await response(scope, receive, send_with_id)
            finally:
                method = scope["method"] if scope["method"] in _METHODS else "other"
                route = getattr(scope.get("route"), "path", UNMATCHED)
                told = _WENT_AWAY if status is None else status
                self._metrics.requests.labels(route, method, str(told)).inc()
                self._metrics.seconds.labels(route, method).observe(time.perf_counter() - started)
                _mark(span, method, route, told)

    @contextmanager
    def _spanned(self, scope: Scope, headers: Headers, call: Call) -> Iterator[Span]:
        if scope["path"] in _WITHOUT_SPAN:
            yield INVALID_SPAN
            return
        carrier: dict[str, Any] = dict(headers)
        with self._tracer.start_as_current_span(
            scope["method"],
            context=extract(carrier),
            kind=SpanKind.SERVER,
            attributes={"plumbline.request_id": call.request_id, "http.request.method": scope["method"]},
            record_exception=False,
            set_status_on_exception=False,
        ) as span:
            yield span


def _mark(span: Span, method: str, route: str, status: int) -> None:
    span.update_name(f"{method} {route}")
    span.set_attributes({"http.route": route, "http.response.status_code": status})
    if status >= _SERVER_ERROR:
        span.set_status(Status(StatusCode.ERROR))
