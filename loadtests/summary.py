"""The figures of a recording: by kind, by call, and of the generator itself."""

from dataclasses import dataclass

from loadtests.figures import Figures, figures
from loadtests.recording import KindRecording, Recording
from loadtests.report import Generator, KindReport
from loadtests.verdict import Counts


@dataclass(frozen=True, slots=True)
class Summary:
    """What a report says of a recording; kinds and calls in order of their names."""

    generator: Generator
    counts: Counts
    kinds: dict[str, KindReport]
    calls: dict[str, dict[str, Figures]]


def summarise(recording: Recording, duration_s: float) -> Summary:
    """The figures of a recording of `duration_s` seconds; what was never measured has none."""
    kinds = {name: _kind(kind) for name, kind in sorted(recording.kinds.items())}
    counts = Counts(
        sent=sum(kind.sent for kind in kinds.values()),
        answered=sum(kind.answered for kind in kinds.values()),
        incomplete=sum(kind.incomplete for kind in kinds.values()),
    )
    generator = Generator(
        lag_ms=figures(recording.lag) if counts.sent else None,
        offered_per_s=counts.sent / duration_s,
        achieved_per_s=recording.completed / duration_s,
    )
    return Summary(generator, counts, kinds, _calls(recording))


def _kind(kind: KindRecording) -> KindReport:
    return KindReport(
        call=kind.call,
        over=kind.over,
        sent=kind.sent,
        answered=kind.answered,
        incomplete=kind.incomplete,
        errors=dict(kind.errors),
        degraded=dict(kind.degraded),
        measures={name: figures(histogram) for name, histogram in kind.measures.items()},
    )


def _calls(recording: Recording) -> dict[str, dict[str, Figures]]:
    names: dict[str, list[str]] = {}
    for kind in recording.kinds.values():
        known = names.setdefault(kind.call, [])
        known += [name for name in kind.measures if name not in known]
    return {
        call: {name: figures(recording.pooled(call, name)) for name in measures}
        for call, measures in sorted(names.items())
    }
