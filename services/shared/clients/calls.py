"""How one service calls another: a deadline always, the trace and request id passed on, few and careful retries.

OpenTelemetry's own grpc.aio instrumentation never ends the span of a locally cancelled call, so spans are made here.
"""

import asyncio
import random
import time
from collections.abc import AsyncGenerator, AsyncIterator, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

import grpc
from google.protobuf.descriptor import ServiceDescriptor
from opentelemetry.propagate import inject
from opentelemetry.trace import Span, SpanKind, Status, StatusCode, set_span_in_context

from services.shared.runtime.call import current_call
from services.shared.runtime.errors import DeadlineExceeded, DependencyUnavailable, Internal
from services.shared.runtime.metadata import REQUEST_ID, error_from_rpc
from services.shared.runtime.rpc_metrics import RpcMetrics
from services.shared.runtime.telemetry import Telemetry

# Kept back at each hop, so that a callee's DEADLINE_EXCEEDED arrives before our own caller has given up.
HOP_MARGIN_S = 0.005
# Tries of a read after the first one.
MAX_RETRIES = 2
# Full jitter up to this before the first retry, doubled before the second.
RETRY_PAUSE_S = 0.05
# Retries are at most a tenth of the calls once ten are used up, so that they never add to an outage.
_BUDGET_FULL = 10.0
_BUDGET_PER_CALL = 0.1

RequestT = TypeVar("RequestT")
ResponseT = TypeVar("ResponseT")


class Peer:
    """One service that this process calls, over one channel.

    Every method raises the error that the peer raised, `DeadlineExceeded` when the time of this call or of the request
    that it belongs to is over, `DependencyUnavailable` when the peer cannot be reached, and `Internal` when it answers
    with what cannot be read.
    """

    def __init__(
        self,
        name: str,
        channel: grpc.aio.Channel,
        service: ServiceDescriptor,
        telemetry: Telemetry,
        metrics: RpcMetrics,
    ) -> None:
        self.name = name
        self.channel = channel
        self._service = service.full_name
        self._tracer = telemetry.tracer
        self._metrics = metrics
        self._retry_budget = _BUDGET_FULL
        metrics.call(name, service)

    async def call(
        self,
        method: "grpc.aio.UnaryUnaryMultiCallable[RequestT, ResponseT]",
        request: RequestT,
        *,
        rpc: str,
        timeout_s: float,
        read: bool,
    ) -> ResponseT:
        """One call of at most `timeout_s`; a `read` is tried again, twice at most, when the peer is UNAVAILABLE."""
        deadline = time.monotonic() + self._timeout(timeout_s)
        for retries in range(MAX_RETRIES + 1):
            try:
                with self._spanned(rpc) as span:
                    return self._read(await method(request, timeout=_left(deadline), metadata=_metadata(span)))
            except DependencyUnavailable:
                pause = random.uniform(0, RETRY_PAUSE_S * 2**retries)
                if not read or retries == MAX_RETRIES or _left(deadline) <= pause or not self._may_retry():
                    raise
                self._metrics.client_retries.labels(self.name, rpc).inc()
                await asyncio.sleep(pause)
        raise AssertionError("the loop returns or raises")

    async def stream(
        self,
        method: "grpc.aio.UnaryStreamMultiCallable[RequestT, ResponseT]",
        request: RequestT,
        *,
        rpc: str,
        timeout_s: float,
    ) -> AsyncGenerator[ResponseT, None]:
        """The responses of one streaming call of at most `timeout_s` in all; never tried again.

        Closing the generator early cancels the call at once.
        """
        with self._spanned(rpc) as span:
            call = method(request, timeout=self._timeout(timeout_s), metadata=_metadata(span))
            try:
                async for response in call:
                    yield self._read(response)
            finally:
                call.cancel()

    async def upload(
        self,
        method: "grpc.aio.StreamUnaryMultiCallable[RequestT, ResponseT]",
        requests: AsyncIterator[RequestT],
        *,
        rpc: str,
        timeout_s: float,
    ) -> ResponseT:
        """One call with a stream of requests; never tried again.

        When the peer begins its reply before it has all of them, the rest is not sent. An error that `requests` itself
        raises reaches the caller as it is.
        """
        raised: list[Exception] = []

        async def watched() -> AsyncIterator[RequestT]:
            replied = asyncio.ensure_future(call.initial_metadata())
            try:
                async for request in _until(replied, requests):
                    yield request
            except Exception as error:
                raised.append(error)
                raise
            finally:
                replied.cancel()

        with self._spanned(rpc) as span:
            call = method(watched(), timeout=self._timeout(timeout_s), metadata=_metadata(span))
            try:
                return self._read(await call)
            except (grpc.aio.AioRpcError, asyncio.CancelledError):
                if raised:
                    raise raised[0] from None
                raise

    def _timeout(self, timeout_s: float) -> float:
        call = current_call()
        left = timeout_s if call is None else min(timeout_s, call.remaining_s() - HOP_MARGIN_S)
        if left <= 0:
            raise DeadlineExceeded(f"no time left to ask {self.name}")
        return left

    def _read(self, response: ResponseT | None) -> ResponseT:
        # grpc.aio gives None, with status OK, for bytes that are not of the response's message.
        if response is None:
            raise Internal(f"{self.name} answered with what is not its message")
        return response

    def _may_retry(self) -> bool:
        if self._retry_budget < 1:
            return False
        self._retry_budget -= 1
        return True

    @contextmanager
    def _spanned(self, rpc: str) -> Iterator[Span]:
        """A client span, metrics, and the peer's error as ours.

        The span is not made the current one: a stream's generator may be closed in another task.
        """
        started = time.perf_counter()
        code = grpc.StatusCode.OK
        name, attributes = f"{self._service}/{rpc}", {"plumbline.peer": self.name, "rpc.system": "grpc"}
        span = self._tracer.start_span(name, kind=SpanKind.CLIENT, attributes=attributes)
        try:
            yield span
            self._retry_budget = min(_BUDGET_FULL, self._retry_budget + _BUDGET_PER_CALL)
        except grpc.aio.AioRpcError as error:
            code = error.code()
            raise error_from_rpc(error, peer=self.name) from None
        except (asyncio.CancelledError, GeneratorExit):
            code = grpc.StatusCode.CANCELLED
            raise
        finally:
            span.set_attribute("rpc.grpc.status_code", code.value[0])
            if code is not grpc.StatusCode.OK:
                span.set_status(Status(StatusCode.ERROR, code.name))
            span.end()
            self._metrics.client_requests.labels(self.name, rpc, code.name).inc()
            self._metrics.client_seconds.labels(self.name, rpc).observe(time.perf_counter() - started)

    async def close(self) -> None:
        """Close the channel; calls that run are cancelled."""
        await self.channel.close()


async def _until(over: "asyncio.Future[Any]", requests: AsyncIterator[RequestT]) -> AsyncIterator[RequestT]:
    """The requests, until `over` is done, also while the next one is waited for."""
    while not over.done():
        following: asyncio.Future[RequestT] = asyncio.ensure_future(anext(requests))
        try:
            await asyncio.wait((over, following), return_when=asyncio.FIRST_COMPLETED)
            if not following.done():
                return
            request = following.result()
        except StopAsyncIteration:
            return
        finally:
            following.cancel()
        yield request


def _left(deadline: float) -> float:
    return deadline - time.monotonic()


def _metadata(span: Span) -> tuple[tuple[str, str], ...]:
    carrier: dict[str, Any] = {}
    inject(carrier, context=set_span_in_context(span))
    if call := current_call():
        carrier[REQUEST_ID] = call.request_id
    return tuple(carrier.items())
