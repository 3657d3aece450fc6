"""The page on a run of kills."""

from loadtests.ingest_faults.markdown import as_markdown
from loadtests.ingest_faults.moments import Victim
from loadtests.ingest_faults.report import Ingest, Killed, Report
from loadtests.provenance import Machine, Source


def an_ingest(*numbers: int, problems: list[str]) -> Ingest:
    moments = [
        Killed(number=number, victim=Victim.INDEX, at_s=1.25, done=0.5, away_s=0.5, back_s=2.5) for number in numbers
    ]
    return Ingest(moments=moments, took_s=9, taken_over=32, repeated=2, chunks=700, digest="d" * 64, problems=problems)


def a_report(*ingests: Ingest) -> Report:
    return Report(
        date="2026-11-30T00:00:00+00:00",
        machine=Machine(cpu="a CPU", cores=2, memory_gib=8, system="Linux", python="3.11"),
        source=Source(commit="c" * 40, dirty=False),
        load_average=0.25,
        pair="sqlite-lancedb",
        documents=200,
        changes=300,
        seed=1,
        lease_s=5,
        undisturbed_s=4,
        undisturbed_chunks=700,
        undisturbed_digest="d" * 64,
        ingests=list(ingests),
    )


def test_every_moment_has_a_row_with_the_outcome_of_its_ingest() -> None:
    report = a_report(an_ingest(1, 2, problems=[]), an_ingest(3, problems=["a document is lost", "a chunk is twice"]))
    page = as_markdown(report)

    assert "2 of 3 moments ended as the undisturbed run" in page
    assert "| 2 | 1 | index | 1.2 | 50% | 0.5 | 2.5 | same |" in page
    assert "| 3 | 2 | index | 1.2 | 50% | 0.5 | 2.5 | a document is lost; a chunk is twice |" in page
    assert "| 1 | 9.0 | 32 | 2 | 700 | dddddddddddd | same |" in page


def test_one_problem_is_enough_to_miss_the_target() -> None:
    assert a_report(an_ingest(1, problems=[])).is_kept
    assert not a_report(an_ingest(1, problems=[]), an_ingest(2, problems=["x"])).is_kept
