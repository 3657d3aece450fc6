"""A report for people."""

from collections.abc import Iterable, Iterator, Sequence

from loadtests.report import Comparison, Report
from loadtests.verdict import MOST_LAG_MS, Check

_QUANTILES = ("p50", "p90", "p95", "p99", "max")


def markdown(report: Report, picture: str) -> str:
    """The report as Markdown in the order in which a reader asks; `picture` is its file, seen from this one."""
    parts = (
        [f"# {report.verdict.outcome}: {report.setup.mix} on {report.setup.environment}"],
        [f"- {reason}" for reason in report.verdict.reasons],
        _setup(report),
        _budget(report),
        [f"![latency by kind, and the budget]({picture})"],
        ["## Kinds", "Milliseconds from the intended start; a timeout counts at its limit."],
        _kinds(report),
        ["## Where the time went", "Milliseconds; `server` is what responses say of themselves."],
        _calls(report),
        _comparison(report.comparison) if report.comparison else ["There is no accepted run to compare with."],
    )
    return "\n\n".join("\n".join(part) for part in parts if part) + "\n"


def _setup(report: Report) -> list[str]:
    machine, stack, setup, generator = report.machine, report.stack, report.setup, report.generator
    commit = f"{report.source.commit or 'unknown'}{', with changes' if report.source.dirty else ''}"
    lag = f"late by {generator.lag_ms.p99:.1f} ms at p99 (at most {MOST_LAG_MS:.0f})" if generator.lag_ms else "idle"
    rows = {
        "date, commit": f"{report.date}, {commit}",
        "machine": f"{machine.cpu}, {machine.cores} cores, {machine.memory_gib:.0f} GiB, {machine.system}",
        "load average before": f"{report.load_average:.2f}",
        "index": setup.index,
        "stack": f"{stack.model}, answers {stack.generator}, {'fresh' if stack.started_here else 'running before'}",
        "chunks": ", ".join(f"{name} {count}" for name, count in stack.chunks.items()),
        "load": f"{setup.arrivals}, {setup.rate_per_s:g}/s for {setup.duration_s:g} s after {setup.warm_up_s:g} s of "
        f"warm-up, {setup.processes} process(es), seed {setup.seed}",
        "rate": f"offered {generator.offered_per_s:.2f}/s, achieved {generator.achieved_per_s:.2f}/s",
        "generator": lag,
    }
    return _table(("", ""), rows.items())


def _budget(report: Report) -> list[str]:
    scale = "" if report.setup.budget_scale == 1 else f", limits times {report.setup.budget_scale:g}"
    rows = [
        (check.what, _value(check, check.measured), _value(check, check.limit), _kept(check))
        for check in report.verdict.checks
    ]
    table = _table((f"budget {report.setup.environment}{scale}", "measured", "limit", ""), rows)
    not_judged = report.verdict.not_judged
    return [*table, "", f"Not judged: {'; '.join(not_judged)}."] if not_judged else table


def _kinds(report: Report) -> list[str]:
    def rows() -> Iterator[Sequence[str]]:
        for name, kind in report.kinds.items():
            latency = kind.measures.get("latency")
            figures = [f"{getattr(latency, quantile):.1f}" if latency else "" for quantile in _QUANTILES]
            call = f"{kind.call} over {kind.over}"
            yield name, call, str(kind.sent), str(kind.answered), *figures, _counts(kind.errors), _counts(kind.degraded)

    return _table(("kind", "call", "sent", "answered", *_QUANTILES, "errors", "degraded"), rows())


def _calls(report: Report) -> list[str]:
    rows = [
        (
            call,
            measure,
            str(figures.count),
            *(f"{getattr(figures, quantile):.1f}" for quantile in _QUANTILES),
            f"{figures.spread['p95'].low:.1f} to {figures.spread['p95'].high:.1f}",
        )
        for call, measures in report.calls.items()
        for measure, figures in measures.items()
    ]
    return _table(("call", "measure", "values", *_QUANTILES, "p95 by chance"), rows)


def _comparison(comparison: Comparison) -> list[str]:
    commit = comparison.accepted_commit or "an unknown commit"
    rows = [
        (
            one.what,
            f"{one.now:.1f}",
            f"{one.accepted:.1f}",
            f"{one.now / one.accepted - 1:+.0%}",
            "apart" if one.apart else "",
        )
        for one in comparison.differences
    ]
    return [
        "## Beside the last accepted run",
        "",
        f"Of {comparison.accepted_date}, {commit}. `apart`: the 95 % intervals do not overlap.",
        "",
        *(f"- not alike: {fact}" for fact in comparison.unlike),
        "",
        *_table(("", "now", "accepted", "change", ""), rows),
    ]


def _value(check: Check, value: float) -> str:
    return f"{value:.1f} ms" if check.unit == "ms" else f"{value:.2%}"


def _kept(check: Check) -> str:
    return "kept" if check.kept else "BROKEN"


def _counts(counts: dict[str, int]) -> str:
    return ", ".join(f"{name} {count}" for name, count in counts.items())


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """A Markdown table whose columns line up in a terminal too."""
    lines = [head, *rows]
    widths = [max(3, *(len(line[column]) for line in lines)) for column in range(len(head))]
    padded = [
        "| " + " | ".join(f"{cell:<{width}}" for cell, width in zip(line, widths, strict=True)) + " |" for line in lines
    ]
    return [padded[0], "|" + "|".join("-" * (width + 2) for width in widths) + "|", *padded[1:]]
