"""The trade-offs of a tuning: what freshness and variety cost."""

from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from loadtests.quality.measures import AGE, DISTINCT
from loadtests.tune.sweep import UNBOUNDED
from loadtests.tune.tuning import Step, Tuning
from loadtests.tune.values import SIMILARITY, mean

_CHOSEN = "#d62728"


def draw(tuning: Tuning, file: Path, *, measure: str, title: str) -> None:
    """Write the picture as a PNG: a panel for each step after relevance, every trial a dot, what was chosen in red."""
    steps = [step for step in tuning.steps if step.name != "relevance"]
    figure = Figure(figsize=(6.5 * len(steps), 5), layout="constrained")
    FigureCanvasAgg(figure)
    for axes, step in zip(figure.subplots(1, len(steps), squeeze=False).flat, steps, strict=True):
        _panel(axes, step, measure)
    figure.suptitle(title)
    figure.savefig(file, dpi=110)


def _panel(axes: Axes, step: Step, measure: str) -> None:
    across = AGE if step.name == "recency" else DISTINCT if DISTINCT in step.base.values else SIMILARITY
    lines: dict[str, list[tuple[float, float, str]]] = {}
    for trial in step.tried:
        line, point = _labels(step.name, trial.settings)
        lines.setdefault(line, []).append((mean(trial.run.values[across]), mean(trial.run.values[measure]), point))
    for line, points in lines.items():
        axes.plot([x for x, _, _ in points], [y for _, y, _ in points], "o-", markersize=4, label=line)
        for x, y, point in points:
            axes.annotate(point, (x, y), fontsize=7, xytext=(3, 3), textcoords="offset points")
    axes.plot(mean(step.base.values[across]), mean(step.base.values[measure]), "k*", markersize=11, label="without")
    if step.choice and step.taken:
        chosen = step.choice.trial.run.values
        axes.plot(mean(chosen[across]), mean(chosen[measure]), "o", markersize=13, fillstyle="none", color=_CHOSEN)
    axes.set_xlabel(across)
    axes.set_ylabel(measure)
    axes.set_title(step.name.capitalize(), loc="left")
    axes.grid(alpha=0.3)
    axes.legend(fontsize=7)


def _labels(step: str, settings: object) -> tuple[str, str]:
    """The line that a trial is on, and its point there."""
    assert isinstance(settings, dict)
    if step == "recency":
        places = settings["recency_places"]
        factors = "/".join(f"{factor:g}" for _, factor in settings["recency_tiers"])
        leader = "leader kept" if settings["protect_leader"] else "leader moves"
        return f"{factors}, {leader}", "L unbounded" if places == UNBOUNDED else f"L {places}"
    line = f"lambda {settings['mmr_lambda']:g}, power {settings['mmr_relevance_power']:g}"
    return line, f"w {settings['mmr_cosine_share']:g}"
