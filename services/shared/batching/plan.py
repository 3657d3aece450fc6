"""Which of the waiting items make the next batch.

A batch is padded to its longest item, so it costs that length times the number of items. Lengths are tokens, from 1.
"""

from collections.abc import Sequence
from itertools import accumulate


def padded_tokens(lengths: Sequence[int]) -> int:
    """What a batch of items of these lengths costs."""
    return max(lengths, default=0) * len(lengths)


def leading_batch(lengths: Sequence[int], *, max_tokens: int) -> list[int]:
    """As many indices from the front as cost at most `max_tokens` together; the first one always. O(batch)."""
    longest = 0
    for count, length in enumerate(lengths):
        longest = max(longest, length)
        if count and longest * (count + 1) > max_tokens:
            return list(range(count))
    return list(range(len(lengths)))


def similar_batch(lengths: Sequence[int], *, max_tokens: int) -> list[int]:
    """The first item with those nearest to it in length, so that little is padded; ascending indices.

    Of all runs in length order that hold the first item and cost at most `max_tokens`, the one with the most tokens
    before padding; of equal ones the one with the shorter longest item. An item over `max_tokens` goes alone. The first
    item is always in, so each waits for at most as many batches as items stand before it. O(n log n).
    """
    by_length = sorted(range(len(lengths)), key=lengths.__getitem__)
    tokens_before = [0, *accumulate(lengths[index] for index in by_length)]
    first = by_length.index(0) if by_length else 0
    best, best_tokens = by_length[first : first + 1], 0
    for last in range(first, len(by_length)):
        start = max(0, last + 1 - max_tokens // lengths[by_length[last]])
        if start > first:
            break
        tokens = tokens_before[last + 1] - tokens_before[start]
        if tokens > best_tokens:
            best, best_tokens = by_length[start : last + 1], tokens
    return sorted(best)


def tokens_within(seconds: float, *, tried_tokens: int, tried_s: float, most: int) -> int:
    """Padded tokens of a batch that takes `seconds` at the pace of one that was tried; from 1 to `most`.

    A larger batch runs at least at the pace of a smaller one of the same lengths, so the largest that was tried is the
    one to go by.
    """
    if tried_s <= 0:
        return most
    return min(most, max(1, int(seconds * tried_tokens / tried_s)))
