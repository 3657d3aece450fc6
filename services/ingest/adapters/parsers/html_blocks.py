"""The blocks of an HTML tree, whoever made the tree: a page's main part, a piece of HTML in Markdown, a converted file.

Inline elements are joined without a space, for `<i>im</i>possible` is one word, and a line break parts words.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import regex
from lxml import html
from lxml.etree import ErrorLevels, _Element

from services.ingest.adapters.parsers.outline import Outline
from services.ingest.adapters.parsers.tables import table_text
from services.ingest.domain.blocks import BlockKind
from services.shared.runtime.errors import InvalidInput

_SKIPPED = frozenset(
    {
        *("annotation", "annotation-xml", "button", "head", "iframe", "noscript", "object", "script", "select"),
        *("style", "svg", "template", "textarea"),
    }
)
HEADINGS = {f"h{level}": level for level in range(1, 7)}
# What stands on lines of its own; any other element, known or not, is part of a line, as browsers have it.
_BLOCKS = frozenset(
    {
        *("address", "article", "aside", "blockquote", "body", "caption", "center", "dd", "details", "dialog", "div"),
        *("dl", "dt", "fieldset", "figcaption", "figure", "footer", "form", "header", "hgroup", "hr", "html", "legend"),
        *("li", "main", "menu", "nav", "ol", "p", "pre", "search", "section", "summary", "table", "tbody", "td"),
        *("tfoot", "th", "thead", "tr", "ul", *HEADINGS),
    }
)
_XML_DECLARATION = regex.compile(r"^\s*<\?xml[^>]*>")
_SPACE = regex.compile(r"\s+")
# What a heading ends in for readers who want its address.
_PERMALINK = regex.compile(r"\s*¶$|\s+[#§]$")


def parse_html(text: str) -> _Element:
    """The tree of a page or a piece of one. Raises InvalidInput for one that the parser gives up on half way."""
    # A declared encoding has done its work, and lxml refuses text that still declares one.
    page = _XML_DECLARATION.sub("", text)
    parser = html.HTMLParser()
    whole = page if "<body" in page.lower() else f"<html><body>{page}</body></html>"
    tree = html.document_fromstring(whole, parser=parser)
    if any(entry.level == ErrorLevels.FATAL for entry in parser.error_log):
        raise InvalidInput("the HTML nests elements too deeply, or has too long a text in one, to be read")
    return tree


def text_of(element: _Element) -> str:
    """All text in `element`; what stands on lines of its own on the page is parted by spaces."""
    return " ".join("".join(_pieces(element)).split())


def heading_text(element: _Element) -> str:
    """The text of a heading without the sign that links to it."""
    return str(_PERMALINK.sub("", text_of(element)))


@dataclass(slots=True)
class _List:
    ordered: bool
    number: int
    marker: str = ""


class HtmlReader:
    """Reads trees into an outline, one after the other."""

    def __init__(self, outline: Outline) -> None:
        self._outline = outline
        self._kind: BlockKind = "paragraph"
        self._lists: list[_List] = []
        self._pending: list[str] = []

    def read(self, tree: _Element) -> None:
        """Take in everything in `tree` that a reader of the page would see."""
        self._element(tree)
        self._flush()

    def _element(self, element: _Element) -> None:
        tag = element.tag
        if not isinstance(tag, str) or tag in _SKIPPED:
            return
        if tag == "br":
            self._pending.append("\n")
        elif tag == "img":
            self._text(element.get("alt"))
        elif tag not in _BLOCKS:
            self._content(element)
        elif tag in HEADINGS and not self._lists:
            self._flush()
            self._outline.heading(HEADINGS[tag], heading_text(element))
        elif tag in ("ul", "ol"):
            self._list(element)
        elif tag == "table" and not _is_layout(element):
            self._table(element)
        elif tag == "pre":
            self._flush()
            self._outline.block("code", _preformatted_text(element))
        elif tag == "blockquote":
            self._as("quote", element)
        elif tag in ("caption", "figcaption"):
            self._as("caption", element)
        else:
            self._as(self._kind, element)

    def _content(self, element: _Element) -> None:
        self._text(element.text)
        for child in element:
            self._element(child)
            self._text(child.tail)

    def _text(self, text: str | None) -> None:
        if text:
            self._pending.append(_SPACE.sub(" ", text))

    def _as(self, kind: BlockKind, element: _Element) -> None:
        """The content of a block element; text in it that is in no block of its own is of `kind`."""
        self._flush()
        before, self._kind = self._kind, kind
        self._content(element)
        self._flush()
        self._kind = before

    def _list(self, element: _Element) -> None:
        self._flush()
        self._lists.append(_List(element.tag == "ol", _start(element)))
        for child in element:
            if child.tag == "li":
                level = self._lists[-1]
                level.marker = f"{level.number}." if level.ordered else "-"
                level.number += 1
                self._content(child)
                self._flush()
            else:
                self._element(child)
        self._flush()
        self._lists.pop()
        if not self._lists:
            self._outline.end_list()

    def _table(self, table: _Element) -> None:
        self._flush()
        for caption in table.iterchildren("caption"):
            self._outline.block("caption", text_of(caption))
        rows = list(_rows(table))
        header_rows = 0
        while header_rows < len(rows) and _is_header(rows[header_rows]):
            header_rows += 1
        text, header = table_text(_grid(rows), header_rows)
        self._outline.block("table", text, table_header=header)

    def _flush(self) -> None:
        text = "".join(self._pending)
        self._pending.clear()
        text = "\n".join(stripped for line in text.split("\n") if (stripped := _SPACE.sub(" ", line).strip()))
        if not text:
            return
        if self._lists:
            level = self._lists[-1]
            self._outline.item(len(self._lists) - 1, level.marker, text)
            level.marker = ""
        else:
            self._outline.block(self._kind, text)


def _pieces(element: _Element) -> Iterator[str]:
    if not isinstance(element.tag, str) or element.tag in _SKIPPED:
        return
    apart = " " if element.tag in _BLOCKS or element.tag == "br" else ""
    yield apart
    yield element.text or ""
    if element.tag == "img":
        yield element.get("alt") or ""
    for child in element:
        yield from _pieces(child)
        yield child.tail or ""
    yield apart


def _preformatted_text(element: _Element) -> str:
    pieces = [element.text or ""]
    for node in element.iterdescendants():
        pieces += ["\n" if node.tag == "br" else node.text or "", node.tail or ""]
    return "".join(pieces)


def _start(element: _Element) -> int:
    start = element.get("start", "1")
    return int(start) if start.isascii() and start.isdigit() else 1


def _rows(table: _Element) -> Iterator[_Element]:
    """The rows of `table` itself, not those of tables in its cells."""
    for child in table:
        if child.tag == "tr":
            yield child
        elif child.tag in ("thead", "tbody", "tfoot"):
            yield from child.iterchildren("tr")


def _is_layout(table: _Element) -> bool:
    """Whether the table is there to place things on a page: it holds headings, tables, or one cell only."""
    if any(True for tag in ("table", *HEADINGS) for found in table.iter(tag) if found is not table):
        return True
    return sum(len(row) for row in _rows(table)) <= 1


def _is_header(row: _Element) -> bool:
    return len(row) > 0 and (row.getparent().tag == "thead" or all(cell.tag == "th" for cell in row))


def _grid(rows: list[_Element]) -> list[list[str]]:
    """The cells by row and column; what a cell spans beyond its first place is empty."""
    grid: list[list[str]] = []
    spanned: dict[int, int] = {}  # column -> rows below that a cell above takes up
    for row in rows:
        line: list[str] = []
        for cell in row.iterchildren("td", "th"):
            while spanned.get(len(line), 0):
                spanned[len(line)] -= 1
                line.append("")
            for extra in range(_span(cell, "colspan")):
                spanned[len(line)] = _span(cell, "rowspan") - 1
                line.append("" if extra else text_of(cell))
        while spanned.get(len(line), 0):
            spanned[len(line)] -= 1
            line.append("")
        grid.append(line)
    return grid


def _span(cell: _Element, name: str) -> int:
    value = cell.get(name, "1")
    return min(int(value), 100) if value.isascii() and value.isdigit() and int(value) else 1
