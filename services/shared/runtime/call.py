"""What belongs to one request and travels with it through every hop: its id and its deadline."""

import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

# Ids from outside are kept only when they are harmless in a header, a log line and a file name.
_MAX_REQUEST_ID = 64


@dataclass(frozen=True, slots=True)
class Call:
    """One request as this process sees it; `deadline` is a reading of the monotonic clock, seconds."""

    request_id: str
    deadline: float

    def remaining_s(self) -> float:
        """Seconds left, negative when the deadline has passed."""
        return self.deadline - time.monotonic()


_current: ContextVar[Call | None] = ContextVar("plumbline_call", default=None)


def current_call() -> Call | None:
    """The request that the running task serves, or None outside any."""
    return _current.get()


@contextmanager
def serving(call: Call) -> Iterator[Call]:
    """Make `call` the current one for the running task and the tasks that it starts."""
    token = _current.set(call)
    try:
        yield call
    finally:
        _current.reset(token)


def new_call(timeout_s: float, request_id: str | None = None) -> Call:
    """A call that ends `timeout_s` from now; a given id is kept when it is 1 to 64 of `A-Za-z0-9._-`."""
    return Call(request_id=acceptable_request_id(request_id), deadline=time.monotonic() + timeout_s)


def acceptable_request_id(given: str | None) -> str:
    """`given` when it may stand in headers and logs, else a new random id of 32 hex digits."""
    if (
        given
        and len(given) <= _MAX_REQUEST_ID
        and given.isascii()
        and given.replace("-", "").replace("_", "").replace(".", "").isalnum()
    ):
        return given
    return uuid.uuid4().hex
