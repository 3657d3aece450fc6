"""A report for people."""

from collections.abc import Iterator, Sequence

from loadtests.search_bench.quantiles import Times
from loadtests.search_bench.report import EngineReport, Report


def as_markdown(report: Report) -> str:
    """The run as a page."""
    machine = report.machine
    lines = [
        "# Search, side by side",
        "",
        f"{report.date}, {machine.cpu}, {machine.cores} cores, {machine.memory_gib} GiB, load average before "
        f"{report.load_average:.2f}; commit {report.source.commit}{' and changes' if report.source.dirty else ''}.",
        f"{report.queries} queries, {report.dimensions} dimensions, seed {report.seed}; how the corpus is made is told "
        "in `loadtests/search_bench/vectors.py` and `words.py`. One request at a time, times in milliseconds.",
        "",
        *_table(
            ("target", "measured", "limit", ""),
            [
                (
                    check.what,
                    f"{check.measured:.3f}",
                    f"{'at least' if check.at_least else 'at most'} {check.limit:.3f}",
                    "reached" if check.is_kept else "**missed**",
                )
                for check in report.checks
            ],
        ),
        *(line for engine in report.engines for line in _engine(engine)),
        *_bare(report),
        *_native(report),
    ]
    return "\n".join(lines) + "\n"


def _engine(engine: EngineReport) -> Iterator[str]:
    imported = engine.imported
    yield ""
    yield f"## {engine.engine}, {imported.chunks:,} chunks"
    yield ""
    yield (
        f"Import {imported.chunks_per_s:.0f} chunks/s, then {imported.upkeep_s:.1f} s of upkeep; "
        f"{imported.disk_mib:.0f} MiB on disk."
    )
    yield ""
    yield from _table(
        ("effort", "recall@10", "recall@100", "keyword p50 p95 p99", "vector", "both", "client MiB", "server MiB"),
        [
            (
                str(one.effort),
                f"{one.recall_at_10:.3f}",
                f"{one.recall_at_100:.3f}",
                _times(one.keyword_ms),
                _times(one.vector_ms),
                _times(one.both_ms),
                f"{one.client_mib:.0f}",
                f"{one.server_mib:.0f}",
            )
            for one in engine.efforts
        ],
    )
    yield ""
    yield from _table(
        ("filter", "share", "recall@100", "vector p50 p95 p99"),
        [(one.what, f"{one.share:.2%}", f"{one.recall_at_100:.3f}", _times(one.vector_ms)) for one in engine.filters],
    )
    yield ""
    yield from _table(
        ("stage of a search", "p50 p95 p99"), [(stage, _times(times)) for stage, times in engine.stages_ms.items()]
    )


def _bare(report: Report) -> Iterator[str]:
    if not report.against_bare:
        return
    yield ""
    yield f"## Against a bare client, {report.against_bare[0].chunks:,} chunks"
    yield ""
    yield from _table(
        ("engine", "search without embedding, p50 p95 p99", "its caller, embedding included", "bare client"),
        [(pair.engine, _times(pair.search), _times(pair.caller), _times(pair.bare)) for pair in report.against_bare],
    )


def _native(report: Report) -> Iterator[str]:
    native = report.against_native
    if native is None:
        return
    yield ""
    yield f"## Against Weaviate's own hybrid query with MMR and boost, {native.chunks:,} chunks"
    yield ""
    yield from _table(
        (f"{native.rate_per_s:g}/s for {native.seconds_each:g} s each", "p50", "p95", "p99"),
        [
            (name, f"{figures.p50:.1f}", f"{figures.p95:.1f}", f"{figures.p99:.1f}")
            for name, figures in (("search", native.search), ("Weaviate's own", native.native))
        ],
    )
    if native.errors:
        yield ""
        yield f"Failed: {', '.join(f'{name} {count}' for name, count in native.errors.items())}."
    if quality := native.quality:
        yield ""
        yield from _table(
            (f"{quality.judged_set}, {quality.queries} queries", "nDCG@10"),
            [
                ("search", f"{quality.search:.3f}"),
                ("Weaviate's ranked fusion", f"{quality.native_ranked:.3f}"),
                ("Weaviate's relative-score fusion", f"{quality.native_relative:.3f}"),
            ],
        )


def _times(times: Times) -> str:
    return f"{times.p50:.1f} {times.p95:.1f} {times.p99:.1f}"


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    lines = [head, ["---"] * len(head), *rows]
    return [f"| {' | '.join(cells)} |" for cells in lines]
