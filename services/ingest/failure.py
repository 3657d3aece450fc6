"""What a failed document means: whether it is worth another attempt, and what its user is told."""

import structlog

from services.ingest.domain.retry import MAX_ATTEMPTS_AFTER_FAULT, pause_s
from services.shared.runtime.errors import (
    Conflict,
    DeadlineExceeded,
    DependencyUnavailable,
    Internal,
    InvalidInput,
    NotFound,
    Overloaded,
    PlumblineError,
)

log = structlog.get_logger()


def will_pass(error: Exception) -> bool:
    """Whether it passes by itself: tried again for as long as it takes, for accepted work is never given up."""
    return isinstance(error, DependencyUnavailable | DeadlineExceeded | Overloaded)


def pause_before_retry_s(error: Exception, attempts: int) -> float | None:
    """Seconds before the next attempt, after `attempts` of them; None when another one would end in the same way."""
    if isinstance(error, Conflict):  # somebody else came between
        return 0.0
    is_ours = not isinstance(error, InvalidInput | NotFound)
    if will_pass(error) or (is_ours and attempts < MAX_ATTEMPTS_AFTER_FAULT):
        return pause_s(attempts)
    return None


def reason_for(error: Exception, document_id: str, attempts: int) -> str:
    """The sentence for the user; a fault of ours is told in the log only."""
    if isinstance(error, PlumblineError) and not isinstance(error, Internal):
        return error.message
    log.error("document_fault", document_id=document_id, attempts=attempts, exc_info=error)
    return f"an internal error; the log of ingest tells more under document '{document_id}'"
