"""Every error that one service may show another, and the one table that gives each its status.

Adapters map their vendor's exceptions to these at their own boundary; nothing above an adapter knows the vendor.
Whatever is not in this table reaches a caller as INTERNAL with a request id and no detail.
"""

from dataclasses import dataclass

import grpc


class PlumblineError(Exception):
    """An error with a sentence that a caller may read.

    `message` says what is wrong and how to mend it and never holds document text, secrets or a stack trace.
    `field` is the dotted path of the request field at fault, as the caller wrote it (`filter.all[0].field`).
    `retry_after_s` is how long a caller should wait before the same call may succeed.
    """

    def __init__(self, message: str, *, field: str | None = None, retry_after_s: float | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.field = field
        self.retry_after_s = retry_after_s


class InvalidInput(PlumblineError):
    """The caller must change the request; the same request never succeeds."""


class Unauthenticated(PlumblineError):
    """No key, or one that is not known."""


class PermissionDenied(PlumblineError):
    """A known key without the right for this."""


class NotFound(PlumblineError):
    """The named collection, generation, document or job does not exist."""


class AlreadyExists(PlumblineError):
    """A thing of this name exists with other content."""


class Conflict(PlumblineError):
    """The request is well formed, but the state of the thing it names forbids it now."""


class Overloaded(PlumblineError):
    """Refused at once because a queue or a quota is full; `retry_after_s` says when to come back."""


class DependencyUnavailable(PlumblineError):
    """A part that this call needs does not answer; reads may be tried again."""


class DeadlineExceeded(PlumblineError):
    """The time given to the call ran out; work not yet begun was dropped."""


class Cancelled(PlumblineError):
    """The caller went away."""


class Internal(PlumblineError):
    """A fault of ours; the message stays in our logs."""


@dataclass(frozen=True, slots=True)
class Status:
    """How one kind of error is spoken over gRPC and over HTTP."""

    error: type[PlumblineError]
    code: grpc.StatusCode
    http: int
    title: str


STATUSES: tuple[Status, ...] = (
    Status(InvalidInput, grpc.StatusCode.INVALID_ARGUMENT, 400, "Invalid input"),
    Status(Unauthenticated, grpc.StatusCode.UNAUTHENTICATED, 401, "Not authenticated"),
    Status(PermissionDenied, grpc.StatusCode.PERMISSION_DENIED, 403, "Not allowed"),
    Status(NotFound, grpc.StatusCode.NOT_FOUND, 404, "Not found"),
    Status(AlreadyExists, grpc.StatusCode.ALREADY_EXISTS, 409, "Already exists"),
    Status(Conflict, grpc.StatusCode.FAILED_PRECONDITION, 409, "Not possible in this state"),
    Status(Overloaded, grpc.StatusCode.RESOURCE_EXHAUSTED, 429, "Too much at once"),
    Status(DependencyUnavailable, grpc.StatusCode.UNAVAILABLE, 503, "A part is unavailable"),
    Status(DeadlineExceeded, grpc.StatusCode.DEADLINE_EXCEEDED, 504, "Out of time"),
    Status(Cancelled, grpc.StatusCode.CANCELLED, 499, "Cancelled by the caller"),
    Status(Internal, grpc.StatusCode.INTERNAL, 500, "Internal error"),
)

_BY_ERROR = {status.error: status for status in STATUSES}
_BY_CODE = {status.code: status for status in STATUSES}


def status_of(error: BaseException) -> Status:
    """The row for `error`; anything that is not a PlumblineError is Internal."""
    return _BY_ERROR.get(type(error), _BY_ERROR[Internal])  # type: ignore[arg-type]


def error_from_code(
    code: grpc.StatusCode, message: str, *, field: str | None = None, retry_after_s: float | None = None
) -> PlumblineError:
    """The error that a peer's status `code` stands for; codes outside the table (UNKNOWN, DATA_LOSS) are Internal."""
    status = _BY_CODE.get(code, _BY_ERROR[Internal])
    return status.error(message, field=field, retry_after_s=retry_after_s)
