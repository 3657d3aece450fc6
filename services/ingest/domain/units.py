"""The pieces that chunks are packed from: sentences, items, rows and lines, and smaller ones where they must be."""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, groupby, pairwise

from services.ingest.domain.blocks import Block, ParsedDocument
from services.ingest.domain.chunk_profile import ChunkProfile
from services.ingest.domain.sentences import Span, cluster_spans, line_spans, sentence_spans, word_spans

CountTokens = Callable[[Sequence[str]], list[int]]

# A tokenizer may make one unknown token of a blob of any length: for its size a token is at most this many characters.
_CHARACTERS_PER_TOKEN = 16
# A word larger than a whole chunk is cut into pieces of which a chunk holds about this many.
_PIECES_PER_CHUNK = 40


@dataclass(frozen=True, slots=True)
class Unit:
    """`body[start:end]`, a part of the block with index `block`; `tokens` is 0 where characters are counted."""

    block: int
    start: int
    end: int
    tokens: int


def size_of(units: Sequence[Unit], profile: ChunkProfile) -> Callable[[int, int], int]:
    """A function that tells how large the units from index `first` to before `last` are together, in O(1)."""
    if profile.measure == "characters":
        return lambda first, last: units[last - 1].end - units[first].start if first < last else 0
    sums = list(accumulate((_size(unit, profile) for unit in units), initial=0))
    return lambda first, last: sums[last] - sums[first]


def cut_into_units(document: ParsedDocument, profile: ChunkProfile, count_tokens: CountTokens) -> list[list[Unit]]:
    """The units of each section, in order.

    A section that the profile keeps whole has its natural units; in another a unit is larger than the target only if
    it is a single grapheme cluster. `count_tokens` is called once for all natural units and once for each smaller kind.
    """
    body = document.body
    section_of = _section_numbers(document.blocks, profile.section_depth)

    def measured(spans: Iterable[tuple[int, Span]]) -> list[Unit]:
        placed = list(spans)
        tokens = (
            [0] * len(placed)
            if profile.measure == "characters"
            else count_tokens([body[start:end] for _, (start, end) in placed])
        )
        return [Unit(block, start, end, count) for (block, (start, end)), count in zip(placed, tokens, strict=True)]

    def by_section(units: Iterable[Unit]) -> list[list[Unit]]:
        return [list(group) for _, group in groupby(units, key=lambda unit: section_of[unit.block])]

    starts = document.block_starts
    units = measured(
        (index, span)
        for index, block in enumerate(document.blocks)
        for span in _natural_spans(block, body, starts[index])
    )
    to_cut = {
        section_of[section[0].block]
        for section in by_section(units)
        if size_of(section, profile)(0, len(section)) > profile.whole_section
    }
    for cut in _finer_cuts(profile):
        large = {
            unit.start: unit
            for unit in units
            if _size(unit, profile) > profile.target and section_of[unit.block] in to_cut
        }
        if not large:
            break
        smaller = measured((unit.block, span) for unit in large.values() for span in cut(body, unit.start, unit.end))
        units = sorted([unit for unit in units if unit.start not in large] + smaller, key=lambda unit: unit.start)
    return by_section(units)


def _size(unit: Unit, profile: ChunkProfile) -> int:
    length = unit.end - unit.start
    return length if profile.measure == "characters" else max(unit.tokens, math.ceil(length / _CHARACTERS_PER_TOKEN))


def _section_numbers(blocks: Sequence[Block], depth: int | None) -> list[int]:
    """For each block the number of its section; neighbours under the same headings share one."""
    keys = [(block.heading_path[:depth], block.heading_places[:depth]) for block in blocks]
    changes = (before != after for before, after in pairwise(keys))
    return list(accumulate(changes, initial=0)) if keys else []


def _natural_spans(block: Block, body: str, start: int) -> Iterator[Span]:
    end = start + len(block.text)
    match block.kind:
        case "list" | "code":
            yield from line_spans(body, start, end)
        case "table":
            yield from _row_spans(block, body, start, end)
        case "paragraph" | "quote" | "caption":
            yield from sentence_spans(body, start, end)


def _row_spans(block: Block, body: str, start: int, end: int) -> Iterator[Span]:
    """The rows, the first of them together with the header: a header by itself at the end of a chunk says nothing."""
    header_end = start + len(block.table_header)
    rows = list(line_spans(body, start, end))
    below = [row for row in rows if row[0] >= header_end]
    if block.table_header:
        yield rows[0][0], (below[0] if below else rows[-1])[1]
        below = below[1:]
    yield from below


def _finer_cuts(profile: ChunkProfile) -> list[Callable[[str, int, int], Iterator[Span]]]:
    """The ways to cut a unit that is larger than a chunk, coarsest first."""
    piece = max(1, profile.target // _PIECES_PER_CHUNK)
    return [
        line_spans,
        sentence_spans,
        word_spans,
        lambda text, start, end: cluster_spans(text, start, end, piece),
        lambda text, start, end: cluster_spans(text, start, end, 1),
    ]
