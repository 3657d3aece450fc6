"""The picture of a run: queries by clients, passages, and what a query waits while passages are embedded."""

from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from loadtests.embed_bench.report import Report

_OURS, _OTHERS = "#d62728", ("#4c78a8", "#9ecae9", "#bab0ac")


def draw(report: Report, file: Path) -> None:
    """Write the picture as a PNG."""
    figure = Figure(figsize=(14, 4.2), layout="constrained")
    FigureCanvasAgg(figure)
    by_clients, ingest, waiting = figure.subplots(1, 3)
    others = iter(_OTHERS)
    colours = {one.name: _OURS if one.name == "plumbline" else next(others) for one in report.subjects}
    _queries(by_clients, report, colours)
    names = [one.name for one in report.subjects]
    ingest.barh(names, [one.passages_per_s for one in report.subjects], color=list(colours.values()))
    ingest.set_title("Ingest alone")
    ingest.set_xlabel("passages a second")
    ingest.invert_yaxis()
    _waiting(waiting, report, colours)
    figure.suptitle(f"{report.model}, {report.machine.cpu}, {report.threads} threads, {report.date}")
    figure.savefig(file, dpi=110)


def _queries(axes: Axes, report: Report, colours: dict[str, str]) -> None:
    for one in report.subjects:
        clients = [queries.clients for queries in one.queries]
        axes.plot(clients, [queries.per_s for queries in one.queries], "o-", color=colours[one.name], label=one.name)
    axes.set_xscale("log", base=2)
    axes.set_xticks(clients, [str(number) for number in clients])
    axes.set_ylim(bottom=0)
    axes.set_title("Single queries")
    axes.set_xlabel("clients at a time")
    axes.set_ylabel("queries a second")
    axes.legend()
    axes.grid(alpha=0.3)


def _waiting(axes: Axes, report: Report, colours: dict[str, str]) -> None:
    for place, one in enumerate(report.subjects):
        mixed = one.mixed
        axes.plot([mixed.idle_p95_ms, mixed.p95_ms], [place, place], color=colours[one.name])
        axes.plot(mixed.idle_p95_ms, place, "o", fillstyle="none", color=colours[one.name])
        axes.plot(mixed.p95_ms, place, "o", color=colours[one.name])
    axes.set_yticks(range(len(report.subjects)), [one.name for one in report.subjects])
    axes.set_xscale("log")
    axes.invert_yaxis()
    axes.set_title("Query p95: idle (ring) and during ingest (dot)")
    axes.set_xlabel("ms")
    axes.grid(axis="x", which="both", alpha=0.3)
