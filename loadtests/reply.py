"""What came back for one request, and what it tells about time."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

# Errors by which a server says that it ran out of the time that a caller would have waited.
TIMEOUT = "timeout"
_OUT_OF_TIME = frozenset((TIMEOUT, "http 504", "DEADLINE_EXCEEDED"))


@dataclass(frozen=True, slots=True)
class Reply:
    """`stages_ms` are the server's own timings; `moments` and `tokens_at` are readings of the event loop's clock.

    `error` is None for a whole answer, else a name: `timeout`, `http 503`, `UNAVAILABLE`, `connection`.
    """

    error: str | None = None
    degraded: Sequence[str] = ()
    stages_ms: Mapping[str, float] = field(default_factory=dict)
    moments: Mapping[str, float] = field(default_factory=dict)
    tokens_at: Sequence[float] = ()

    @property
    def timed_out(self) -> bool:
        """Whether it took longer than a caller waits, by our clock or by the server's."""
        return self.error in _OUT_OF_TIME


@dataclass(frozen=True, slots=True)
class Times:
    """When a request was due, when it really left and when its answer was whole, on the event loop's clock."""

    intended: float
    started: float
    ended: float


def measures(reply: Reply, times: Times) -> Iterator[tuple[str, float]]:
    """Everything measured about a whole answer, in seconds, by name.

    The caller's own measures count from the intended start. `hops` is what lies between the request's real start and
    its end beyond the server's total. `server.<stage>` is what the server says; a stage that did not run is left out.
    `server.legs` is the slower leg.
    """
    yield "latency", times.ended - times.intended
    for name, moment in reply.moments.items():
        yield name, moment - times.intended
    if reply.tokens_at:
        yield "first_token", reply.tokens_at[0] - times.intended
    for before, after in zip(reply.tokens_at, reply.tokens_at[1:], strict=False):
        yield "between_tokens", after - before
    stages = {name: milliseconds / 1000 for name, milliseconds in reply.stages_ms.items() if milliseconds > 0}
    if total := stages.get("total"):
        yield "hops", times.ended - times.started - total
    if legs := [stages[leg] for leg in ("keyword", "vector") if leg in stages]:
        yield "server.legs", max(legs)
    for name, seconds in stages.items():
        yield f"server.{name}", seconds
