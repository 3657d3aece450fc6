"""What a run leaves behind: figures as JSON, a table and a picture; and the figures that are accepted."""

from collections.abc import Sequence
from pathlib import Path

from loadtests.quality.comparison import compare
from loadtests.quality.figures import Figures, read_figures, write_figures
from loadtests.quality.judged_set import JudgedSet
from loadtests.quality.known_sets import known_sets
from loadtests.quality.measured import Measured
from loadtests.quality.picture import draw
from loadtests.quality.report import markdown
from services.local.index_engine import EMBEDDED

RESULTS = Path(__file__).parents[1] / "results" / "quality"


def results_of(index: str, results: Path) -> Path:
    """The folder of the accepted figures of an engine."""
    return results if index == EMBEDDED else results / index


def beside_accepted(judged: JudgedSet, figures: Figures, results: Path) -> Measured:
    """The figures with their comparison to the accepted ones, where there are any. Raises Failure."""
    file = results / f"{judged.name}.json"
    return Measured(judged, figures, compare(figures, read_figures(file)) if file.is_file() else None)


def write(measured: Sequence[Measured], folder: Path, name: str = "report") -> str:
    """Write the table and the picture of this name and every set's figures; returns the table."""
    folder.mkdir(parents=True, exist_ok=True)
    for one in measured:
        write_figures(one.figures, folder / f"{one.judged.name}.json")
    draw(measured, folder / f"{name}.png")
    text = markdown(measured, picture=f"{name}.png")
    (folder / f"{name}.md").write_text(text)
    return text


def accept(measured: Sequence[Measured], results: Path) -> None:
    """Make these the accepted figures of their sets, and draw up the table and picture of all known sets anew."""
    for one in measured:
        write_figures(one.figures, results / f"{one.judged.name}.json")
    sets = [(judged, results / f"{name}.json") for name, judged in known_sets().items()]
    accepted = [Measured(judged, read_figures(file), None) for judged, file in sets if file.is_file()]
    if accepted:
        write(accepted, results, "accepted")
