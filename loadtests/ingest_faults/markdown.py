"""A report for people."""

from collections.abc import Sequence

from loadtests.ingest_faults.report import Report


def as_markdown(report: Report) -> str:
    """The run as a page."""
    machine = report.machine
    moments = [(ingest, moment) for ingest in report.ingests for moment in ingest.moments]
    same = sum(not ingest.problems for ingest, _ in moments)
    lines = [
        f"# Kills during an ingest: {report.pair}",
        "",
        f"{same} of {len(moments)} moments ended as the undisturbed run: the same ids, the same digest of all fields "
        "and vectors, no chunk twice, none without a document, every original there, exact term statistics, every job "
        "finished.",
        "",
        f"{report.date}, {machine.cpu}, {machine.cores} cores, {machine.memory_gib} GiB, load average before "
        f"{report.load_average:.2f}; commit {report.source.commit}{' and changes' if report.source.dirty else ''}.",
        "",
        f"Each ingest is {report.documents} documents in {report.changes} changes (seed {report.seed}). In each of its "
        "moments a process gets SIGKILL and is started again: `worker` is the ingest service, `index` the Weaviate "
        "server, or ingest in the middle of a write where the index is embedded. The lease of a killed worker lasts "
        f"{report.lease_s:g} s. Undisturbed the same takes {report.undisturbed_s:.1f} s and comes to "
        f"{report.undisturbed_chunks} chunks, digest {report.undisturbed_digest[:12]}.",
        "",
        *_table(
            ("moment", "ingest", "killed", "at s", "applied by then", "started after s", "serves after s", "outcome"),
            [
                (
                    str(one.number),
                    str(report.ingests.index(ingest) + 1),
                    one.victim.value,
                    f"{one.at_s:.1f}",
                    f"{one.done:.0%}",
                    f"{one.away_s:.1f}",
                    f"{one.back_s:.1f}",
                    ingest.outcome,
                )
                for ingest, one in moments
            ],
        ),
        "",
        *_table(
            ("ingest", "all ended after s", "changes taken over", "calls repeated", "chunks", "digest", "outcome"),
            [
                (
                    str(number),
                    f"{ingest.took_s:.1f}",
                    str(ingest.taken_over),
                    str(ingest.repeated),
                    str(ingest.chunks),
                    ingest.digest[:12],
                    ingest.outcome,
                )
                for number, ingest in enumerate(report.ingests, 1)
            ],
        ),
    ]
    return "\n".join(lines) + "\n"


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    lines = [head, ["---"] * len(head), *rows]
    return [f"| {' | '.join(cells)} |" for cells in lines]
