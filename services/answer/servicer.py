"""The gRPC edge of answers: decode, answer, encode; and a failure after the first event as the last event."""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Any

import grpc
import structlog
from google.protobuf.descriptor import ServiceDescriptor

from plumbline.answer.v1 import answer_pb2 as pb
from plumbline.answer.v1.answer_pb2_grpc import AnswerServiceServicer, add_AnswerServiceServicer_to_server
from services.answer import convert
from services.answer.events import Done, FinishReason
from services.answer.metrics import AnswerMetrics
from services.answer.pipeline import AnswerPipeline
from services.shared.runtime.call import current_call
from services.shared.runtime.errors import Internal, PlumblineError

log = structlog.get_logger()

SERVICE: ServiceDescriptor = pb.DESCRIPTOR.services_by_name["AnswerService"]


class AnswerServicer(AnswerServiceServicer):
    """Streams answers."""

    def __init__(self, pipeline: AnswerPipeline, metrics: AnswerMetrics) -> None:
        self._pipeline = pipeline
        self._metrics = metrics

    async def Answer(
        self, request: pb.AnswerRequest, context: grpc.aio.ServicerContext[Any, Any]
    ) -> AsyncGenerator[pb.AnswerResponse, None]:
        """See `AnswerService.Answer`."""
        question = convert.question_from_proto(request)
        begun, outcome = False, "cancelled"
        try:
            async with aclosing(self._pipeline.answer(question)) as events:
                async for event in events:
                    begun = True
                    self._metrics.count(event)
                    if isinstance(event, Done):
                        outcome = "refused" if event.finish_reason is FinishReason.REFUSAL else "answered"
                    yield convert.event_to_proto(event, question.mode)
        except Exception as error:
            outcome = "failed"
            if not begun:
                raise
            yield convert.failure_to_proto(_shown(error), question.mode)
        finally:
            self._metrics.answers.labels(question.mode.value, outcome).inc()

    async def DescribeGenerator(
        self, request: pb.DescribeGeneratorRequest, context: grpc.aio.ServicerContext[Any, Any]
    ) -> pb.DescribeGeneratorResponse:
        """See `AnswerService.DescribeGenerator`."""
        return convert.generator_to_proto(self._pipeline.generator, general_knowledge=self._pipeline.has_language_model)

    def add_to(self, server: grpc.aio.Server) -> None:
        """Register with a server."""
        add_AnswerServiceServicer_to_server(self, server)


def _shown(error: Exception) -> PlumblineError:
    """What a caller may read of `error`; the rest goes to the log."""
    if isinstance(error, PlumblineError) and not isinstance(error, Internal):
        log.warning("answer_cut_off", error=type(error).__name__, reason=error.message)
        return error
    log.error("answer_failed", exc_info=error)
    call = current_call()
    return Internal(f"internal error; request id {call.request_id if call else 'unknown'}")
