"""Tables in Markdown whose columns line up in a terminal too."""

from collections.abc import Iterable, Sequence

from loadtests.quality.chance import Change, mean_of
from loadtests.quality.measures import AGE, DISTINCT

_WIDE = (DISTINCT, AGE)  # numbers over 1


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """The lines of a table."""
    lines = [head, *rows]
    widths = [max(3, *(len(line[column]) for line in lines)) for column in range(len(head))]
    padded = [
        "| " + " | ".join(f"{cell:<{width}}" for cell, width in zip(line, widths, strict=True)) + " |" for line in lines
    ]
    return [padded[0], "|" + "|".join("-" * (width + 2) for width in widths) + "|", *padded[1:]]


def number(measure: str, value: float, sign: str = "") -> str:
    """A value of this measure; ages and counts with one decimal, shares with three."""
    return f"{value:{sign}.{1 if measure in _WIDE else 3}f}"


def with_interval(measure: str, values: Sequence[float | None]) -> str:
    """The mean with its interval."""
    mean = mean_of(values)
    return f"{number(measure, mean.value)} ({number(measure, mean.low)} to {number(measure, mean.high)})"


def change(measure: str, changed: Change) -> str:
    """The mean of paired differences with its interval."""
    mean = changed.mean
    low, high = number(measure, mean.low, "+"), number(measure, mean.high, "+")
    return f"{number(measure, mean.value, '+')} ({low} to {high})"
