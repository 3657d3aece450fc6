"""The picture of a report: latency by kind, and how much of the budget is used up."""

from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.ticker import StrMethodFormatter

from loadtests.report import Report

_MARKS = {"p50": "o", "p90": "^", "p95": "s", "p99": "D", "max": "x"}
_COLOURS = {True: "#4c78a8", False: "#d62728"}


def draw(report: Report, file: Path) -> None:
    """Write the picture as a PNG."""
    figure = Figure(figsize=(13, 5), layout="constrained")
    FigureCanvasAgg(figure)
    by_kind, by_limit = figure.subplots(1, 2)
    _latency(by_kind, report)
    _budget(by_limit, report)
    setup = report.setup
    figure.suptitle(
        f"{report.verdict.outcome}: {setup.mix} on {setup.environment}, {setup.arrivals} {setup.rate_per_s:g}/s, "
        f"{report.date}"
    )
    figure.savefig(file, dpi=110)


def _latency(axes: Axes, report: Report) -> None:
    kinds = {name: kind.measures["latency"] for name, kind in report.kinds.items() if "latency" in kind.measures}
    for place, figures in enumerate(kinds.values()):
        axes.plot([figures.p50, figures.max], [place, place], color="#bbbbbb", zorder=1)
    for quantile, mark in _MARKS.items():
        values = [getattr(figures, quantile) for figures in kinds.values()]
        axes.scatter(values, range(len(kinds)), marker=mark, label=quantile, zorder=2)
    axes.set_xscale("log")
    axes.xaxis.set_major_formatter(StrMethodFormatter("{x:g}"))
    axes.set_xlabel("ms from the intended start")
    axes.set_yticks(range(len(kinds)), list(kinds))
    axes.invert_yaxis()
    axes.set_title("Latency by kind")
    axes.grid(axis="x", which="both", alpha=0.3)
    axes.legend()


def _budget(axes: Axes, report: Report) -> None:
    checks = [check for check in report.verdict.checks if check.unit == "ms"]
    shares = [100 * check.measured / check.limit for check in checks]
    names = [f"{check.what}: {check.measured:.0f} of {check.limit:.0f} ms" for check in checks]
    axes.barh(names, shares, color=[_COLOURS[check.kept] for check in checks])
    axes.axvline(100, color="black", linewidth=1)
    axes.set_xlabel("% of the limit")
    axes.invert_yaxis()
    axes.set_title(f"Budget times {report.setup.budget_scale:g}" if report.setup.budget_scale != 1 else "Budget")
    axes.grid(axis="x", alpha=0.3)
