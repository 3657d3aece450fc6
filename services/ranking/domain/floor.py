"""The attribute floor: the first places hold so many different values of an attribute, where the window does."""

from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Lift:
    """A hit that was lifted into the first places, and the one that gave way; both are indices into the given order."""

    lifted: int
    gave_way: int


def attribute_floor(
    attributes: Sequence[str | None], *, parts: Sequence[Hashable], min_distinct: int, within: int
) -> tuple[list[int], list[Lift]]:
    """The order, as indices, with at least `min_distinct` values among its first `within` places where that can be had.

    `attributes` and `parts` are given best hit first. The first hit below with a value that the first places lack is
    lifted to place `within`; the lowest-ranked surplus hit of the same part (no value, or a value that another of the
    first places has) gives way and follows directly after. The order of all other hits stays, and no hit crosses from
    one part into another. O(n * min_distinct).
    """
    top, rest = list(range(min(within, len(attributes)))), list(range(within, len(attributes)))
    lifts: list[Lift] = []
    while True:
        counts = Counter(value for index in top if (value := attributes[index]) is not None)
        surplus = [index for index in top if (value := attributes[index]) is None or counts[value] > 1]
        lifted = next((i for i in rest if (value := attributes[i]) is not None and value not in counts), None)
        if len(counts) >= min_distinct or lifted is None:
            return top + rest, lifts
        gives_way = next((index for index in reversed(surplus) if parts[index] == parts[lifted]), None)
        if gives_way is None:
            return top + rest, lifts
        top.remove(gives_way)
        rest.remove(lifted)
        top.append(lifted)
        rest.insert(0, gives_way)
        lifts.append(Lift(lifted, gives_way))
