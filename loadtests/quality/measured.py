"""One set with what was measured and how that compares."""

from dataclasses import dataclass

from loadtests.quality.comparison import Comparison
from loadtests.quality.figures import Figures
from loadtests.quality.judged_set import JudgedSet


@dataclass(frozen=True, slots=True)
class Measured:
    """`comparison` is None where nothing was accepted before."""

    judged: JudgedSet
    figures: Figures
    comparison: Comparison | None

    @property
    def is_worse(self) -> bool:
        """Than the accepted figures."""
        return self.comparison is not None and self.comparison.is_worse
