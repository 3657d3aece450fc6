"""The picture of a run: the first watched measure of every set, stage by stage."""

import math
from collections.abc import Sequence
from itertools import zip_longest
from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from loadtests.quality.chance import mean_of
from loadtests.quality.measured import Measured

_COLUMNS = 3
_WORSE, _USUAL = "#d62728", "#4c78a8"


def draw(measured: Sequence[Measured], file: Path) -> None:
    """Write the picture as a PNG: dots with intervals, what was accepted as rings, plain tools as crosses."""
    columns = min(_COLUMNS, len(measured))
    rows = math.ceil(len(measured) / columns)
    figure = Figure(figsize=(5.2 * columns, 3.2 * rows), layout="constrained")
    FigureCanvasAgg(figure)
    panels = figure.subplots(rows, columns, squeeze=False).flat
    for axes, one in zip_longest(panels, measured):
        if one is None:
            axes.set_axis_off()
        else:
            _panel(axes, one)
    figure.savefig(file, dpi=100)


def _panel(axes: Axes, measured: Measured) -> None:
    judged, figures, comparison = measured.judged, measured.figures, measured.comparison
    watched = figures.watched[0]
    stages = [stage for stage, values in figures.stages.items() if watched in values]
    differences = comparison.differences if comparison else ()
    accepted = {one.stage: one for one in differences if one.measure == watched}
    for place, stage in enumerate(stages):
        mean = mean_of(figures.stages[stage][watched])
        colour = _WORSE if stage in accepted and accepted[stage].is_worse else _USUAL
        axes.plot([mean.low, mean.high], [place, place], color=colour)
        axes.plot(mean.value, place, "o", color=colour)
        if stage in accepted:
            axes.plot(accepted[stage].accepted, place, "o", markersize=11, fillstyle="none", color="black")
    plain = {f"plain: {label}": values[watched] for label, values in judged.plain.items() if watched in values}
    axes.plot(list(plain.values()), range(len(stages), len(stages) + len(plain)), "x", color="grey")
    labels = [*stages, *plain]
    axes.set_yticks(range(len(labels)), labels, fontsize=8)
    axes.set_ylim(len(labels) - 0.5, -0.5)
    axes.set_title(f"{figures.name}: {watched}, {len(figures.queries)} queries", fontsize=10, loc="left")
    axes.grid(axis="x", alpha=0.3)
