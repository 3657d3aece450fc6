"""What happens around every served call: deadline, request id, span, metrics, admission, and errors as statuses."""

from __future__ import annotations  # grpc's handler classes are generic for the type checker only

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import aclosing, contextmanager, suppress
from dataclasses import dataclass
from typing import Any, NoReturn, TypeAlias

import grpc
import structlog
from google.protobuf.message import DecodeError
from opentelemetry.propagate import extract
from opentelemetry.trace import Span, SpanKind, Status, StatusCode

from services.shared.runtime.call import Call, acceptable_request_id, serving
from services.shared.runtime.errors import (
    Cancelled,
    DeadlineExceeded,
    Internal,
    InvalidInput,
    Overloaded,
    PlumblineError,
    status_of,
)
from services.shared.runtime.metadata import REQUEST_ID, VERSION, details_of, error_to_metadata, value_of
from services.shared.runtime.rpc_metrics import RpcMetrics
from services.shared.runtime.telemetry import Telemetry
from services.shared.runtime.version import VERSION as OUR_VERSION

log = structlog.get_logger()

Context = grpc.aio.ServicerContext[Any, Any]
Handler: TypeAlias = "grpc.RpcMethodHandler[Any, Any]"
# Stands for a request that is not of its message; gRPC itself would answer UNKNOWN with the words of the library.
_UNREADABLE = object()
# How long a refused caller waits: about the time in which a full house of short calls is served.
_RETRY_AFTER_S = 0.25
# A stream of requests that nobody reads any more is emptied for at most so long: our own callers stop at once when they
# see the reply begin, a foreign one may send on for ever.
DRAIN_S = 5.0
# Health and reflection are asked by probes and tools, which know nothing of deadlines and request ids.
_STANDARD_SERVICES = ("/grpc.health.", "/grpc.reflection.")


class VersionInterceptor(grpc.aio.ServerInterceptor):
    """Tells this installation's version in the initial metadata of every reply, health checks included."""

    async def intercept_service(
        self,
        continuation: Callable[[grpc.HandlerCallDetails], Awaitable[Handler | None]],
        handler_call_details: grpc.HandlerCallDetails,
    ) -> Handler | None:
        handler = await continuation(handler_call_details)
        if handler is None or handler.unary_unary is None:
            return handler
        inner = handler.unary_unary

        async def with_version(request: Any, context: Context) -> Any:
            await context.send_initial_metadata(((VERSION, OUR_VERSION),))
            return await _result(inner, request, context)

        return grpc.unary_unary_rpc_method_handler(
            with_version, handler.request_deserializer, handler.response_serializer
        )


@dataclass(slots=True)
class _Admission:
    """Counts the calls in the house; over the limit a call is refused at once instead of waiting."""

    limit: int
    inside: int = 0

    @contextmanager
    def entered(self) -> Iterator[None]:
        if self.inside >= self.limit:
            raise Overloaded(f"{self.limit} calls are being served already; try again", retry_after_s=_RETRY_AFTER_S)
        self.inside += 1
        try:
            yield
        finally:
            self.inside -= 1


class CallInterceptor(grpc.aio.ServerInterceptor):
    """Wraps each call of our own services.

    A call without a deadline is refused. A `PlumblineError` becomes its status with field and retry hint; any other
    exception is logged and becomes INTERNAL with the request id and no detail.
    """

    def __init__(self, telemetry: Telemetry, metrics: RpcMetrics, *, max_concurrent: int) -> None:
        self._tracer = telemetry.tracer
        self._metrics = metrics
        self._admission = _Admission(max_concurrent)

    async def intercept_service(
        self,
        continuation: Callable[[grpc.HandlerCallDetails], Awaitable[Handler | None]],
        handler_call_details: grpc.HandlerCallDetails,
    ) -> Handler | None:
        handler = await continuation(handler_call_details)
        if handler is None or handler_call_details.method.startswith(_STANDARD_SERVICES):
            return handler
        method = handler_call_details.method
        read: Callable[[Any], Any] = _each_readable if handler.request_streaming else _readable

        async def reply_once(request: Any, context: Context) -> Any:
            inner: Any = handler.stream_unary if handler.request_streaming else handler.unary_unary
            sent = request if handler.request_streaming else None
            return await self._around(method, context, lambda: _result(inner, read(request), context), sent)

        async def reply_stream(request: Any, context: Context) -> None:
            # Written here rather than yielded, so that span and call live and end in the one task that serves the call.
            inner: Any = handler.stream_stream if handler.request_streaming else handler.unary_stream

            async def write_all() -> None:
                # Closed here, not when memory is collected: what a handler holds must end with its caller.
                async with aclosing(inner(read(request), context)) as responses:
                    async for response in responses:
                        await context.write(response)

            sent = request if handler.request_streaming else None
            await self._around(method, context, write_all, sent)

        kinds: dict[tuple[bool, bool], tuple[Callable[..., Any], Callable[..., Any]]] = {
            (False, False): (grpc.unary_unary_rpc_method_handler, reply_once),
            (True, False): (grpc.stream_unary_rpc_method_handler, reply_once),
            (False, True): (grpc.unary_stream_rpc_method_handler, reply_stream),
            (True, True): (grpc.stream_stream_rpc_method_handler, reply_stream),
        }
        make, behaviour = kinds[bool(handler.request_streaming), bool(handler.response_streaming)]
        decode = _decoding(handler.request_deserializer or bytes)
        return make(behaviour, decode, handler.response_serializer)  # type: ignore[no-any-return]

    async def _around(
        self,
        method: str,
        context: Context,
        serve: Callable[[], Awaitable[Any]],
        sent: AsyncIterator[Any] | None,
    ) -> Any:
        """Serve one call; `sent` are its requests where they are a stream."""
        short = method.rsplit("/", 1)[1]
        metadata = tuple(context.invocation_metadata() or ())
        remaining_s = context.time_remaining()
        call = Call(
            request_id=acceptable_request_id(value_of(metadata, REQUEST_ID)),
            deadline=time.monotonic() + (remaining_s if remaining_s is not None else 0.0),
        )
        carrier = {key: value for key, value in metadata if isinstance(value, str)}
        started = time.perf_counter()
        in_flight = self._metrics.in_flight.labels(short)
        in_flight.inc()
        code = grpc.StatusCode.OK
        with (
            serving(call),
            self._tracer.start_as_current_span(
                method.removeprefix("/"),
                context=extract(carrier),
                kind=SpanKind.SERVER,
                attributes={"plumbline.request_id": call.request_id, "rpc.system": "grpc"},
                record_exception=False,
                set_status_on_exception=False,
            ) as span,
        ):
            try:
                if remaining_s is None:
                    raise InvalidInput("a call needs a deadline; set a timeout on the call")
                with self._admission.entered():
                    return await serve()
            except asyncio.CancelledError:
                # gRPC cancels the serving task for both; only the clock tells which it was.
                error = DeadlineExceeded("out of time") if call.remaining_s() <= 0 else Cancelled("cancelled")
                code = status_of(error).code
                raise
            except PlumblineError as error:
                code = status_of(error).code
                await self._abort(context, error, call, sent)
            except Exception as error:
                code = grpc.StatusCode.INTERNAL
                log.exception("call_failed", method=short, error=type(error).__name__)
                await self._abort(context, Internal(f"internal error; request id {call.request_id}"), call, sent)
            finally:
                in_flight.dec()
                self._metrics.requests.labels(short, code.name).inc()
                self._metrics.seconds.labels(short).observe(time.perf_counter() - started)
                _mark(span, code)

    @staticmethod
    async def _abort(context: Context, error: PlumblineError, call: Call, sent: AsyncIterator[Any] | None) -> NoReturn:
        if isinstance(error, Internal):
            log.error("internal_error", reason=error.message)
            error = Internal(f"internal error; request id {call.request_id}")
        if sent is not None:
            await _drain(sent, context)
        await context.abort(status_of(error).code, details_of(error), error_to_metadata(error))
        raise AssertionError("abort always raises")


def _decoding(deserializer: Callable[[bytes], Any]) -> Callable[[bytes], Any]:
    def decode(sent: bytes) -> Any:
        try:
            return deserializer(sent)
        except DecodeError:
            return _UNREADABLE

    return decode


def _readable(request: Any) -> Any:
    """The request. Raises InvalidInput when it could not be decoded."""
    if request is _UNREADABLE:
        raise InvalidInput("the request is not of its message, or is nested more than 100 messages deep")
    return request


async def _each_readable(requests: AsyncIterator[Any]) -> AsyncIterator[Any]:
    async for request in requests:
        yield _readable(request)


async def _result(behaviour: Callable[..., Any], request: Any, context: Context) -> Any:
    """What a handler returns, be it a coroutine function (ours) or a plain function (the standard services)."""
    outcome = behaviour(request, context)
    return await outcome if isinstance(outcome, Awaitable) else outcome


async def _drain(sent: AsyncIterator[Any], context: Context) -> None:
    """Let the caller see that it is refused, and read what is on its way.

    A status that is sent while requests still come ends the stream with a reset, which overtakes the status at the
    caller about half the time.
    """
    await context.send_initial_metadata(())
    with suppress(TimeoutError):
        async with asyncio.timeout(DRAIN_S):
            async for _ in sent:
                pass


def _mark(span: Span, code: grpc.StatusCode) -> None:
    span.set_attribute("rpc.grpc.status_code", code.value[0])
    if code is not grpc.StatusCode.OK:
        span.set_status(Status(StatusCode.ERROR, code.name))
