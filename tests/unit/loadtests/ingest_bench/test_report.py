"""What the figures of a run say of the targets."""

from typing import Any

from loadtests.ingest_bench.report import First, Memory, Report, as_markdown
from loadtests.provenance import Machine, Source

FIRST = First(
    wall_s=110.0,
    bare_s=100.0,
    stage_s={"parse": 1.0, "embed": 190.0, "store": 8.0, "commit": 4.0},
    chunks=5_100,
    ingest_cpu_s=20.0,
    embedding_cpu_s=200.0,
)
MEMORY = Memory(documents=300, after=[100, 200, 300], mib=[400.0, 650.0, 500.0])


def a_report(**changes: Any) -> Report:
    values: dict[str, Any] = {
        "date": "2026-11-30",
        "machine": Machine(cpu="a CPU", cores=2, memory_gib=8.0, system="Linux", python="3.11"),
        "source": Source(commit="abc", dirty=False),
        "load_average": 0.1,
        "load_average_after": 2.0,
        "documents": 5_000,
        "model": "all-MiniLM-L6-v2",
        "first": FIRST,
        "again_wall_s": 3.3,
        "again_embedded": 0,
        "metadata_wall_s": 20.0,
        "metadata_embedded": 0,
        "heading_embedded": 1,
        "until_applied_s": [0.1, 0.2, 0.9],
        "memory": MEMORY,
    }
    return Report(**(values | changes))


def missed(report: Report) -> list[str]:
    return [check.what for check in report.checks if not check.is_kept]


def test_share_beside_embedding_is_what_ingest_takes_longer_than_bare_embedding() -> None:
    assert FIRST.beside_embedding == 110 / 100 - 1
    assert FIRST.cpu_beside_embedding == 20 / 200


def test_growth_counts_from_the_first_look_to_the_highest() -> None:
    assert MEMORY.growth_mib == 250.0


def test_each_target_that_is_missed_is_told() -> None:
    assert missed(a_report()) == ["memory of ingest grows, MiB"]
    flat = MEMORY.model_copy(update={"mib": [400.0, 410.0, 405.0]})
    assert missed(a_report(memory=flat)) == []
    # 3.31 of 110 s is over 3 %.
    slow = a_report(memory=flat, again_wall_s=3.31, again_embedded=1, metadata_embedded=1, heading_embedded=2)
    assert missed(slow) == [
        "the same documents again, over the first time",
        "chunks embedded for the same documents",
        "chunks embedded for other metadata",
        "chunks embedded for one heading",
    ]


def test_page_names_the_machine_the_load_and_the_missed_target() -> None:
    page = as_markdown(a_report())
    assert "a CPU, 2 cores" in page
    assert "Load average 0.10 before and 2.00 after" in page
    assert "| memory of ingest grows, MiB | 250.000 | at most 200 | **missed** |" in page
    assert "| everything but embedding, over embedding | 0.100 | at most 0.15 | reached |" in page


def test_page_says_when_the_machine_was_busy() -> None:
    assert "Measured beside other work" not in as_markdown(a_report(load_average=2.0))
    assert "Measured beside other work" in as_markdown(a_report(load_average=2.1))
