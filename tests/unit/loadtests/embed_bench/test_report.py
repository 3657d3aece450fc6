"""The targets of a run, worked out by hand, and the page."""

from loadtests.embed_bench.measuring import Mixed, Queries
from loadtests.embed_bench.report import Report, SubjectReport, as_markdown, checks
from loadtests.provenance import Machine, Source


def subject(name: str, *, one: float, many: float, passages: float, idle: float, busy: float) -> SubjectReport:
    return SubjectReport(
        name=name,
        queries=[
            Queries(clients=1, queries=10, per_s=one, p50_ms=1, p95_ms=2),
            Queries(clients=64, queries=10, per_s=many, p50_ms=1, p95_ms=2),
        ],
        passages_per_s=passages,
        mixed=Mixed(queries_per_s=4, idle_p95_ms=idle, p50_ms=1, p95_ms=busy, passages_per_s=1),
    )


OURS = subject("plumbline", one=100, many=240, passages=97, idle=10, busy=161)
LIBRARY = subject("encode, bfloat16", one=120, many=120, passages=100, idle=10, busy=900)
INFINITY = subject("infinity", one=90, many=300, passages=50, idle=20, busy=700)


def test_each_target_is_a_ratio_of_one_run_and_says_whether_it_was_reached() -> None:
    subjects = {one.name: one for one in (OURS, LIBRARY, INFINITY)}
    made = checks(subjects, same_dtype="encode, bfloat16", ingest_batch_ms=150)
    assert [(round(check.measured, 3), check.limit, check.is_kept) for check in made] == [
        (0.97, 0.97, True),  # 97 / 100
        (2.4, 2.5, False),  # 240 / 100
        (161, 160, False),  # idle 10 and a batch of 150
        (1.94, 1.0, True),  # 97 / 50
        (1.111, 1.0, True),  # 100 / 90
        (0.8, 1.0, False),  # 240 / 300
        (161, 700, True),
    ]


def test_without_the_peer_its_targets_are_left_out() -> None:
    made = checks({one.name: one for one in (OURS, LIBRARY)}, same_dtype="encode, bfloat16", ingest_batch_ms=150)
    assert len(made) == 3


def test_the_page_names_the_machine_every_subject_and_the_missed_targets() -> None:
    subjects = {one.name: one for one in (OURS, LIBRARY, INFINITY)}
    report = Report(
        date="2026-11-30",
        machine=Machine(cpu="Some CPU", cores=2, memory_gib=8, system="Linux", python="3.11"),
        source=Source(commit="abc", dirty=False),
        model="m",
        device="cpu",
        dtype="bfloat16",
        threads=2,
        passages=200,
        rounds=3,
        ingest_batch_ms=150,
        encode_batch_size={"encode, bfloat16": 16},
        versions={"torch": "2"},
        subjects=list(subjects.values()),
        checks=checks(subjects, same_dtype="encode, bfloat16", ingest_batch_ms=150),
    )
    page = as_markdown(report)
    assert "Some CPU, 2 cores" in page
    assert "| plumbline | 100 | 240 | 2 | 2 | 97.0 | 10 / 161 | 1.0 |" in page
    assert "| 64 clients over one | 2.40 | at least 2.50 | **missed** |" in page
