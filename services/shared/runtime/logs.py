"""Logs: JSON events with fields on standard error, each with the request and trace that it belongs to."""

import logging
import sys

import structlog
from opentelemetry import trace
from structlog.typing import EventDict, Processor, WrappedLogger

from services.shared.runtime.call import current_call


def configure_logs(service: str, level: str) -> None:
    """Send every event of `level` and above, also those of libraries, to standard error as one JSON object a line."""

    def add_service(_: WrappedLogger, __: str, event: EventDict) -> EventDict:
        event["service"] = service
        return event

    stages: list[Processor] = [
        add_service,
        _add_request,
        structlog.stdlib.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        structlog.processors.format_exc_info,
    ]
    structlog.configure(
        processors=[*stages, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=True,
    )
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=stages,
            processors=[
                structlog.stdlib.ProcessorFormatter.remove_processors_meta,
                structlog.processors.JSONRenderer(ensure_ascii=False),
            ],
        )
    )
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(level.upper())
    # A client library's line per HTTP request holds addresses and says nothing that our spans do not.
    for chatty in ("httpx", "httpcore", "alembic", "aiosqlite", "uvicorn.access"):
        logging.getLogger(chatty).setLevel(logging.WARNING)


def _add_request(_: WrappedLogger, __: str, event: EventDict) -> EventDict:
    if call := current_call():
        event["request_id"] = call.request_id
    span = trace.get_current_span().get_span_context()
    if span.is_valid:
        event["trace_id"] = trace.format_trace_id(span.trace_id)
    return event
