"""What a run measured: histograms and counts by kind, which add up over processes."""

import copyreg
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from hdrh.histogram import HdrHistogram

from loadtests.mix import Request
from loadtests.reply import Reply, Times, measures

# From a microsecond to an hour, with three digits: off by a thousandth at most.
_LONGEST_US = 3_600_000_000
_DIGITS = 3

# A recording travels between processes; the histograms in it do so in their own compressed form.
copyreg.pickle(HdrHistogram, lambda one: (HdrHistogram.decode, (one.encode(),)))


def histogram() -> HdrHistogram:
    """An empty histogram of microseconds."""
    return HdrHistogram(1, _LONGEST_US, _DIGITS)


def record(into: HdrHistogram, seconds: float) -> None:
    """Count one duration; below a microsecond it counts as one, over an hour as an hour."""
    into.record_value(min(max(round(seconds * 1e6), 1), _LONGEST_US))


@dataclass(slots=True)
class KindRecording:
    """The requests of one kind. `measures` hold whole answers; timeouts stand in `latency` too, at their limit."""

    call: str
    over: str
    sent: int = 0
    answered: int = 0
    errors: Counter[str] = field(default_factory=Counter)
    degraded: Counter[str] = field(default_factory=Counter)
    incomplete: int = 0
    measures: dict[str, HdrHistogram] = field(default_factory=dict)

    def measure(self, name: str) -> HdrHistogram:
        """The histogram of this name, a new one the first time."""
        return self.measures.setdefault(name, histogram())


@dataclass(slots=True)
class Recording:
    """A run, or the part of it that one process made, warm-up left out.

    `lag` is how late requests left. `completed` counts whole answers that came in the recorded time.
    """

    kinds: dict[str, KindRecording] = field(default_factory=dict)
    lag: HdrHistogram = field(default_factory=histogram)
    completed: int = 0

    def count(self, request: Request, reply: Reply, times: Times) -> None:
        """Count one request and what became of it."""
        kind = self.kinds.setdefault(request.kind, KindRecording(request.call, request.over))
        kind.sent += 1
        record(self.lag, times.started - times.intended)
        if reply.timed_out:
            record(kind.measure("latency"), request.timeout_s)
        if reply.error is not None:
            kind.errors[reply.error] += 1
            return
        kind.answered += 1
        kind.degraded.update(reply.degraded)
        kind.incomplete += bool(reply.degraded)
        for name, seconds in measures(reply, times):
            record(kind.measure(name), seconds)

    def add(self, other: "Recording") -> None:
        """Take in what another process recorded."""
        self.lag.add(other.lag)
        self.completed += other.completed
        for name, theirs in other.kinds.items():
            ours = self.kinds.setdefault(name, KindRecording(theirs.call, theirs.over))
            ours.sent += theirs.sent
            ours.answered += theirs.answered
            ours.incomplete += theirs.incomplete
            ours.errors += theirs.errors
            ours.degraded += theirs.degraded
            for measure, counts in theirs.measures.items():
                ours.measure(measure).add(counts)

    def pooled(self, call: str, measure: str) -> HdrHistogram:
        """One measure over all kinds of a call; empty when there is none."""
        return merged(
            kind.measures[measure] for kind in self.kinds.values() if kind.call == call and measure in kind.measures
        )


def merged(histograms: Iterable[HdrHistogram]) -> HdrHistogram:
    """The sum of histograms."""
    total = histogram()
    for one in histograms:
        total.add(one)
    return total
