"""Collects the blocks of a document while its source is read from front to back, each under its headings."""

from typing import NamedTuple

from services.ingest.domain.blocks import Block, BlockKind

# Code points. A heading stands in the context of every chunk below it; what is longer is a paragraph in large letters.
_LONGEST_HEADING = 512


class _Heading(NamedTuple):
    level: int
    text: str
    place: int


class Outline:
    """Headings, items and blocks go in, in reading order; `finished` gives the blocks.

    A heading with neither text nor a deeper heading below it becomes a paragraph under itself, so that its words can
    be found. Items that follow each other make one list.
    """

    def __init__(self) -> None:
        self._above: list[_Heading] = []
        self._headings = 0
        self._nothing_said = False  # under the heading that came last
        self._items: list[str] = []
        self._blocks: list[Block] = []

    def heading(self, level: int, text: str) -> None:
        """A heading, `level` from 1. A blank one ends the sections of its level and opens none.

        One of more than 512 code points is a paragraph of the section before it.
        """
        if len(text) > _LONGEST_HEADING:
            self.block("paragraph", text)
            return
        self.end_list()
        if self._above and self._above[-1].level >= level:
            self._say_heading()
        while self._above and self._above[-1].level >= level:
            self._above.pop()
        text = " ".join(text.split())
        self._nothing_said = bool(text)
        if text:
            self._headings += 1
            self._above.append(_Heading(level, text, self._headings))

    def item(self, depth: int, marker: str, text: str) -> None:
        """An item of a list at `depth`, from 0, or a further paragraph of one, with `marker` empty."""
        if text.strip():
            lead = f"{'  ' * depth}{marker or ' '} "
            self._items.append(lead + " ".join(text.split()))

    def end_list(self) -> None:
        """The outermost list has ended."""
        items, self._items = self._items, []
        if items:
            self._add("list", "\n".join(items))

    def block(self, kind: BlockKind, text: str, *, page: int | None = None, table_header: str = "") -> None:
        """Any block that is not a list; a blank one is dropped. Code keeps its indentation."""
        self.end_list()
        if text.strip():
            self._add(kind, text.strip("\n") if kind == "code" else text.strip(), page, table_header)

    def finished(self) -> tuple[Block, ...]:
        """The blocks, in order."""
        self.end_list()
        self._say_heading()
        return tuple(self._blocks)

    def _say_heading(self) -> None:
        if self._nothing_said:
            self._add("paragraph", self._above[-1].text)

    def _add(self, kind: BlockKind, text: str, page: int | None = None, table_header: str = "") -> None:
        self._nothing_said = False
        path = tuple(heading.text for heading in self._above)
        places = tuple(heading.place for heading in self._above)
        self._blocks.append(Block(kind, text, path, places, page, table_header))
