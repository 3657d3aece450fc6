"""The picture of a report: recall against time, recall through filters, and where a search spends its time."""

from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from loadtests.search_bench.report import LEAST_RECALL_WITH_FILTER, Report

_COLOURS = {"lancedb": "#d62728", "weaviate": "#4c78a8"}
_STAGES = ("embed", "keyword", "vector", "fuse", "rank", "total", "caller")


def draw(report: Report, file: Path) -> None:
    """Write the picture as a PNG."""
    figure = Figure(figsize=(15, 4.5), layout="constrained")
    FigureCanvasAgg(figure)
    efforts, filters, stages = figure.subplots(1, 3)
    _efforts(efforts, report)
    _filters(filters, report)
    _stages(stages, report)
    figure.suptitle(f"{report.chunks:,} chunks of {report.dimensions} dimensions, {report.machine.cpu}, {report.date}")
    figure.savefig(file, dpi=110)


def _efforts(axes: Axes, report: Report) -> None:
    for engine in report.engines:
        colour = _COLOURS[engine.engine]
        for name, style in (("recall_at_10", "-o"), ("recall_at_100", "--s")):
            recalls = [getattr(one, name) for one in engine.efforts]
            label = f"{engine.engine}, {name.replace('_at_', '@')}"
            axes.plot([one.vector_ms.p95 for one in engine.efforts], recalls, style, color=colour, label=label)
        for one in engine.efforts:
            axes.annotate(str(one.effort), (one.vector_ms.p95, one.recall_at_10))
    axes.set_xlabel("vector leg, p95 ms; efforts beside the points")
    axes.set_title("Recall against an exact search")
    axes.grid(alpha=0.3)
    axes.legend()


def _filters(axes: Axes, report: Report) -> None:
    for engine in report.engines:
        names = [f"{one.what}" for one in engine.filters]
        axes.plot([one.recall_at_100 for one in engine.filters], names, "o", color=_COLOURS[engine.engine])
    axes.axvline(LEAST_RECALL_WITH_FILTER, color="black", linewidth=1)
    axes.set_title("Recall@100 through a filter")
    axes.grid(alpha=0.3)


def _stages(axes: Axes, report: Report) -> None:
    width = 0.4
    for number, engine in enumerate(report.engines):
        known = [(place, engine.stages_ms[stage]) for place, stage in enumerate(_STAGES) if stage in engine.stages_ms]
        places = [place + number * width for place, _ in known]
        axes.barh(places, [times.p95 for _, times in known], width, color=_COLOURS[engine.engine], label=engine.engine)
    axes.set_yticks([place + width / 2 for place in range(len(_STAGES))], list(_STAGES))
    axes.invert_yaxis()
    axes.set_xlabel("p95 ms")
    axes.set_title("Stages of a search")
    axes.grid(axis="x", alpha=0.3)
    axes.legend()
