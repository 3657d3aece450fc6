"""What a run measured, and what the targets say of it."""

from collections.abc import Mapping, Sequence

from pydantic import Field

from loadtests.embed_bench.measuring import Mixed, Queries
from loadtests.provenance import Machine, Source
from loadtests.strict import StrictFile


class SubjectReport(StrictFile):
    """The figures of one subject; medians over the rounds."""

    name: str
    queries: list[Queries]
    passages_per_s: float
    mixed: Mixed


class Check(StrictFile):
    """One target: a ratio or a time of this run, and whether it was reached."""

    what: str
    measured: float
    limit: float
    at_least: bool = Field(description="Whether the limit is a floor; else a ceiling.")

    @property
    def is_kept(self) -> bool:
        """The target was reached."""
        return self.measured >= self.limit if self.at_least else self.measured <= self.limit


class Report(StrictFile):
    """One run."""

    date: str
    machine: Machine
    source: Source
    model: str
    device: str
    dtype: str
    threads: int
    passages: int
    rounds: int
    ingest_batch_ms: float = Field(description="Mean device time of one of our batches of passages.")
    encode_batch_size: dict[str, int]
    versions: dict[str, str]
    subjects: list[SubjectReport]
    checks: list[Check]


def checks(subjects: Mapping[str, SubjectReport], *, same_dtype: str, ingest_batch_ms: float) -> list[Check]:
    """The targets; `same_dtype` names the subject that is the library in our own precision."""
    ours, library, peer = subjects["plumbline"], subjects[same_dtype], subjects.get("infinity")
    by_clients = {queries.clients: queries for queries in ours.queries}
    most = max(by_clients)
    made = [
        _floor("ingest over encode in the same precision", ours.passages_per_s / library.passages_per_s, 0.97),
        _floor(f"{most} clients over one", by_clients[most].per_s / by_clients[min(by_clients)].per_s, 2.5),
        Check(
            what="query p95 during ingest, ms; idle p95 and one batch of passages",
            measured=ours.mixed.p95_ms,
            limit=ours.mixed.idle_p95_ms + ingest_batch_ms,
            at_least=False,
        ),
    ]
    if peer:
        made += [
            _floor("ingest over infinity", ours.passages_per_s / peer.passages_per_s, 1.0),
            *(
                _floor(
                    f"queries of {one.clients} clients over infinity", by_clients[one.clients].per_s / one.per_s, 1.0
                )
                for one in peer.queries
            ),
            Check(
                what="query p95 during ingest, ms; infinity's",
                measured=ours.mixed.p95_ms,
                limit=peer.mixed.p95_ms,
                at_least=False,
            ),
        ]
    return made


def _floor(what: str, measured: float, limit: float) -> Check:
    return Check(what=what, measured=measured, limit=limit, at_least=True)


def as_markdown(report: Report) -> str:
    """The run as a page."""
    machine = report.machine
    clients = [queries.clients for queries in report.subjects[0].queries]
    head = ["", *(f"queries/s, {n} clients" for n in clients), *(f"p95 ms, {n} clients" for n in clients)]
    head += ["passages/s", "query p95 ms, idle / during ingest", "passages/s meanwhile"]
    rows = [_row(subject) for subject in report.subjects]
    targets = [
        [
            check.what,
            f"{check.measured:.2f}",
            f"{'at least' if check.at_least else 'at most'} {check.limit:.2f}",
            "reached" if check.is_kept else "**missed**",
        ]
        for check in report.checks
    ]
    sizes = ", ".join(f"{name}: {size}" for name, size in report.encode_batch_size.items())
    return "\n".join(
        [
            f"# Embedding, side by side: {report.model}",
            "",
            f"{report.date}, {machine.cpu}, {machine.cores} cores, {machine.memory_gib} GiB; {report.device}, "
            f"{report.threads} threads; {report.passages} passages of 12 to 160 words; "
            f"medians of {report.rounds} rounds.",
            f"Commit {report.source.commit}{' and changes' if report.source.dirty else ''}. "
            + ", ".join(f"{name} {version}" for name, version in report.versions.items())
            + ".",
            "",
            *_table(head, rows),
            "",
            f"`plumbline` computes in {report.dtype}; one of its batches of passages takes "
            f"{report.ingest_batch_ms:.0f} ms. "
            f"`encode` is the library in this process, calls one after the other, in its best batch size ({sizes}).",
            "Queries during ingest are sent at a fixed rate and timed from when they were due.",
            "",
            *_table(["target", "measured", "limit", ""], targets),
            "",
        ]
    )


def _row(subject: SubjectReport) -> list[str]:
    mixed = subject.mixed
    return [
        subject.name,
        *(f"{queries.per_s:.0f}" for queries in subject.queries),
        *(f"{queries.p95_ms:.0f}" for queries in subject.queries),
        f"{subject.passages_per_s:.1f}",
        f"{mixed.idle_p95_ms:.0f} / {mixed.p95_ms:.0f}",
        f"{mixed.passages_per_s:.1f}",
    ]


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    lines = [head, ["---"] * len(head), *rows]
    return [f"| {' | '.join(cells)} |" for cells in lines]
