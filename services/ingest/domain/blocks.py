"""What every parser makes of a document: blocks of text, each under the headings that stand above it.

Headings are no blocks of their own: they reach a reader through the path of what stands below them. Text has `\n` as
its only line end.
"""

from dataclasses import dataclass
from itertools import accumulate
from typing import Literal

BlockKind = Literal["paragraph", "list", "table", "code", "quote", "caption"]

BLOCK_SEPARATOR = "\n\n"


@dataclass(frozen=True, slots=True)
class Block:
    """A piece of text that a person would see as one.

    `text` is not blank. A list has one line an item; a table has one line a row, written `| a | b |`, and begins with
    `table_header` when it has one: its header rows and the line `| --- | --- |` below them. `heading_path` is the
    headings above, outermost first. `heading_places` has for each of them its number among the document's headings,
    and so tells apart two sections of the same name; parsers of sources without headings leave both empty. `page` is
    the physical page, from 1, where the text begins.
    """

    kind: BlockKind
    text: str
    heading_path: tuple[str, ...] = ()
    heading_places: tuple[int, ...] = ()
    page: int | None = None
    table_header: str = ""

    def __post_init__(self) -> None:
        if not self.text.strip():
            raise ValueError("a block needs text")


@dataclass(frozen=True, slots=True)
class ParsedDocument:
    """A document as read: its own title, empty when it has none, and its blocks in reading order."""

    title: str
    blocks: tuple[Block, ...]

    @property
    def body(self) -> str:
        """The text that chunks are cut from and their offsets count in; joined anew on each access."""
        return BLOCK_SEPARATOR.join(block.text for block in self.blocks)

    @property
    def block_starts(self) -> list[int]:
        """Where each block begins in the body, in code points."""
        steps = (len(block.text) + len(BLOCK_SEPARATOR) for block in self.blocks[:-1])
        return list(accumulate(steps, initial=0)) if self.blocks else []
