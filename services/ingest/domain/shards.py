"""Which part of a large input a process takes, and in which portions."""

import hashlib
from collections.abc import Iterable, Iterator

# A portion is accepted in one transaction and held in memory at once.
PORTION_RECORDS = 500
PORTION_BYTES = 8 * 1024 * 1024

Line = tuple[int, bytes]
"""A line with its number, from 1."""


def shard_of(key: str, shards: int) -> int:
    """The shard, from 0, that everything with this key belongs to: the same in every process and for ever."""
    return int.from_bytes(hashlib.sha256(key.encode()).digest()[:8], "big") % shards


def portions(lines: Iterable[Line]) -> Iterator[list[Line]]:
    """The lines in order, as many together as fit into a portion; a line that is larger stands alone."""
    portion: list[Line] = []
    size = 0
    for line in lines:
        length = len(line[1])
        if portion and (len(portion) == PORTION_RECORDS or size + length > PORTION_BYTES):
            yield portion
            portion, size = [], 0
        portion.append(line)
        size += length
    if portion:
        yield portion
