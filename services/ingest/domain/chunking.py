"""How a document becomes chunks.

The body is cut into units (sentences, items of a list, rows of a table, lines of code), and the units of each section
are packed front to back. Sections are never mixed, in no profile and however short they are: a short section under its
own headings is found and cited better than two that share a chunk and can have no heading of their own.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from services.ingest.domain.blocks import Block, ParsedDocument
from services.ingest.domain.chunk_profile import ChunkProfile
from services.ingest.domain.packing import pack
from services.ingest.domain.units import CountTokens, Unit, cut_into_units

# Code points of a table's header that are repeated where the table goes on; a longer one would outweigh the rows.
_LONGEST_HEADER = 2_000


@dataclass(frozen=True, slots=True)
class Chunk:
    """A stored piece of a document.

    `text` is `body[start:end]` of its document, in code points, and not blank. `context` is the title, the heading
    paths and, where a table goes on from the chunk before, the table's header of up to 2,000 code points, each on lines
    of its own; the header comes last, so that context and text read on as a table. `heading_path` is what all of `text`
    stands under. `pages` are physical pages in order, none where the source has none. `tokens` counts `text` alone.
    `ordinal` is from 0.
    """

    ordinal: int
    text: str
    context: str
    heading_path: tuple[str, ...]
    pages: tuple[int, ...]
    start: int
    end: int
    tokens: int


def split_into_chunks(document: ParsedDocument, profile: ChunkProfile, count_tokens: CountTokens) -> list[Chunk]:
    """The chunks of `document` in order; none for a document without blocks.

    Together they hold every character of the body that is not white space; none lies wholly inside its neighbour. A
    chunk is below `target + minimum`, unless it is a whole section or a single grapheme cluster. `count_tokens` gets
    many texts at once, a handful of times. Linear in the length of the body.
    """
    body = document.body
    starts = document.block_starts
    pieces = [
        units[first:last]
        for units in cut_into_units(document, profile, count_tokens)
        for first, last in pack(units, profile)
    ]
    if profile.measure == "characters":
        tokens = count_tokens([body[units[0].start : units[-1].end] for units in pieces])
    else:
        tokens = [sum(unit.tokens for unit in units) for units in pieces]
    return [
        _chunk(document, body, starts[units[0].block], units, ordinal, count)
        for ordinal, (units, count) in enumerate(zip(pieces, tokens, strict=True))
    ]


def _chunk(
    document: ParsedDocument, body: str, block_start: int, units: Sequence[Unit], ordinal: int, tokens: int
) -> Chunk:
    """One chunk; `block_start` is where the block of the first unit begins."""
    start, end = units[0].start, units[-1].end
    blocks = document.blocks[units[0].block : units[-1].block + 1]
    header = blocks[0].table_header if body[block_start:start].strip() else ""
    return Chunk(
        ordinal=ordinal,
        text=body[start:end],
        context=_context(document.title, blocks, header if len(header) <= _LONGEST_HEADER else ""),
        heading_path=_shared_path(blocks),
        pages=tuple(dict.fromkeys(block.page for block in blocks if block.page is not None)),
        start=start,
        end=end,
        tokens=tokens,
    )


def _context(title: str, blocks: Sequence[Block], table_header: str) -> str:
    """The lines that say where a text stands; a title that is also the outermost heading is said once."""
    paths = dict.fromkeys(
        block.heading_path[1:] if block.heading_path[:1] == (title,) else block.heading_path for block in blocks
    )
    return "\n".join(line for line in (title, *map(" > ".join, paths), table_header) if line)


def _shared_path(blocks: Sequence[Block]) -> tuple[str, ...]:
    """The headings that stand above every block."""
    shared = blocks[0].heading_path
    for block in blocks[1:]:
        same = (ours == theirs for ours, theirs in zip(shared, block.heading_path, strict=False))
        shared = shared[: next((depth for depth, equal in enumerate(same) if not equal), len(block.heading_path))]
    return shared
