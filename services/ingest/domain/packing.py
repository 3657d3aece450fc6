"""Which units make a chunk together: the target, the overlap and the minimum of a profile."""

from collections.abc import Callable, Sequence

from services.ingest.domain.chunk_profile import ChunkProfile
from services.ingest.domain.units import Unit, size_of


def pack(units: Sequence[Unit], profile: ChunkProfile) -> list[tuple[int, int]]:
    """Ranges (first, last) of `units`, `last` excluded, that make one chunk each, in order; they cover all units.

    A section that is to stay whole is one range. Otherwise each is filled up to the target and begins with the last
    units of the one before: as many as come nearest to the overlap, fewer at a tie, never the whole of it, and never
    so many that no new unit fits. A rest below the minimum joins the range before it. O(len(units)).
    """
    size = size_of(units, profile)
    count = len(units)
    if size(0, count) <= profile.whole_section:
        return [(0, count)]
    ranges: list[tuple[int, int]] = []
    first = taken = 0
    while taken < count:
        last = taken + 1
        while first < taken and size(first, last) > profile.target:
            first += 1
        while last < count and size(first, last + 1) <= profile.target:
            last += 1
        ranges.append((first, last))
        first, taken = _overlap_start(first, last, profile.overlap, size), last
    if len(ranges) > 1:
        first, last = ranges[-2]
        if size(first, count) - size(first, last) < profile.minimum:
            ranges[-2:] = [(first, count)]
    return ranges


def _overlap_start(first: int, last: int, overlap: int, size: Callable[[int, int], int]) -> int:
    """From which unit on the range `first` to `last` is repeated; `last` when nothing is."""
    start = last
    while start - 1 > first and abs(size(start - 1, last) - overlap) < abs(size(start, last) - overlap):
        start -= 1
    return start
