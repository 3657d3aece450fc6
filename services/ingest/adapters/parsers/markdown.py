"""Markdown: CommonMark with tables, footnotes, front matter, containers (`:::`, `///`) and HTML in between."""

from collections.abc import Mapping, Sequence
from itertools import takewhile, zip_longest

import regex
import yaml
from markdown_it import MarkdownIt
from markdown_it.token import Token
from markdown_it.tree import SyntaxTreeNode
from mdit_py_plugins.container import container_plugin
from mdit_py_plugins.footnote import footnote_plugin

from services.ingest.adapters.parsers.decoding import clean, decode
from services.ingest.adapters.parsers.html_blocks import HtmlReader, parse_html
from services.ingest.adapters.parsers.outline import Outline
from services.ingest.adapters.parsers.tables import table_text
from services.ingest.domain.blocks import BlockKind, ParsedDocument
from services.shared.runtime.errors import InvalidInput

_FRONT_MATTER = regex.compile(r"---[ \t]*\n(.*?\n)??(?:---|\.\.\.)[ \t]*(?:\n|\Z)", regex.DOTALL)
# The address that writers give a heading: {#id}, { #id .class }, {/*id*/}, the stars of the last read as emphasis.
_HEADING_ADDRESS = regex.compile(r"\s*\{\s*(?:#[^{}]*|/\*?[^{}*]*\*?/)\s*\}$")
_LINE_BREAK = regex.compile(r"<br\b", regex.IGNORECASE)
_CELL_BAR = regex.compile(r"(?<!\\)\|")


def _named(params: str, *_: object) -> bool:
    return regex.match(r"\s*[\p{L}{]", params) is not None


_DEEPEST = 100  # levels; the reader leaves deeper ones out without a word, of its own from 20 on
_MARKDOWN = (
    MarkdownIt("commonmark", {"maxNesting": _DEEPEST})
    .enable("table")
    .use(footnote_plugin, inline=False, move_to_end=False)  # a note stays where it is written, cited or not
    .use(container_plugin, name="colons", marker=":", validate=_named)
    .use(container_plugin, name="slashes", marker="/", validate=_named)
)


def parse_markdown(data: bytes, charset: str = "") -> ParsedDocument:
    """The blocks of a Markdown file. Raises InvalidInput when it is not text or nested too deeply."""
    return read_markdown(decode(data, charset))


def read_markdown(text: str) -> ParsedDocument:
    """The blocks of Markdown `text`. Its title is that of the front matter, else its first heading of level 1.

    Raises InvalidInput when it is nested too deeply.
    """
    front_matter, text = _without_front_matter(clean(text).replace("\f", "\n"))
    reader = _MarkdownReader()
    tokens = _MARKDOWN.parse(text)
    if any(token.nesting == 1 and token.level == _DEEPEST - 1 for token in tokens):
        raise InvalidInput(f"its lists and quotes are nested too deeply: {_DEEPEST} levels and more are not read")
    reader.blocks(SyntaxTreeNode(tokens).children)
    title = front_matter.get("title")
    return ParsedDocument(title=str(title).strip() if title else reader.first_title, blocks=reader.outline.finished())


def _without_front_matter(text: str) -> tuple[Mapping[object, object], str]:
    """The front matter and the text below it. What is not a mapping between two lines is text, not front matter."""
    found = _FRONT_MATTER.match(text)
    if found is None:
        return {}, text
    try:
        values = yaml.safe_load(found.group(1) or "")
    except (yaml.YAMLError, ValueError, RecursionError):
        return {}, text
    return (values, text[found.end() :]) if isinstance(values, Mapping) else ({}, text)


class _MarkdownReader:
    """Reads a syntax tree into an outline."""

    def __init__(self) -> None:
        self.outline = Outline()
        self.first_title = ""
        self._html = HtmlReader(self.outline)

    def blocks(self, nodes: Sequence[SyntaxTreeNode], kind: BlockKind = "paragraph", *, nested: bool = False) -> None:
        """Blocks that follow each other; text that is in none of its own is of `kind`.

        A heading in a list or a quote is text of it: it says nothing of what follows after.
        """
        above = ""  # lines that stand directly on top of a table
        for node, below in zip_longest(nodes, nodes[1:]):
            match node.type:
                case "heading" if not nested:
                    self._heading(node)
                case "paragraph" if below is not None and below.type == "table" and _touch(node, below):
                    above = _inline_text(node, line_end="\n")
                case "heading" | "paragraph":
                    self.outline.block(kind, _inline_text(node))
                case "table":
                    self._table(node, above)
                    above = ""
                case "bullet_list" | "ordered_list":
                    self._list(node, 0)
                    self.outline.end_list()
                case "blockquote":
                    self.blocks(node.children, "quote", nested=True)
                case "fence" | "code_block":
                    self.outline.block("code", node.content)
                case "html_block":
                    self._html.read(parse_html(node.content))
                case "container_colons" | "container_slashes":
                    # "info Title", "tip | Title": the first word is its kind.
                    self.outline.block(kind, node.info.strip().partition(" ")[2].strip(" |"))
                    self.blocks(node.children, kind, nested=nested)
                case "footnote_reference":
                    self.blocks(node.children, kind, nested=True)

    def _heading(self, node: SyntaxTreeNode) -> None:
        text = _HEADING_ADDRESS.sub("", _inline_text(node))
        self.outline.heading(int(node.tag[1:]), text)
        if node.tag == "h1" and not self.first_title:
            self.first_title = text

    def _list(self, node: SyntaxTreeNode, depth: int) -> None:
        number = int(node.attrs.get("start", 1))
        for item in node.children:
            marker = f"{number}." if node.type == "ordered_list" else "-"
            number += 1
            for child in item.children:
                if child.type in ("bullet_list", "ordered_list"):
                    self._list(child, depth + 1)
                elif child.type in ("paragraph", "heading"):
                    self.outline.item(depth, marker, _inline_text(child))
                    marker = ""
                else:
                    self.blocks([child], nested=True)

    def _table(self, node: SyntaxTreeNode, above: str) -> None:
        rows = [[_inline_text(cell) for cell in row.children] for part in node.children for row in part.children]
        lines = above.split("\n")
        # A second header row on top of the one that Markdown knows reads as a paragraph there.
        headers = list(takewhile(lambda line: line.startswith("|"), reversed(lines)))
        self.outline.block("caption", "\n".join(lines[: len(lines) - len(headers)]))
        rows = [_CELL_BAR.split(line.strip().strip("|")) for line in reversed(headers)] + rows
        text, header = table_text(rows, header_rows=len(headers) + 1)
        self.outline.block("table", text, table_header=header)


def _touch(node: SyntaxTreeNode, below: SyntaxTreeNode) -> bool:
    """Whether no line lies between two nodes."""
    return node.map is not None and below.map is not None and node.map[1] == below.map[0]


def _inline_text(node: SyntaxTreeNode, line_end: str = " ") -> str:
    """The words of a heading, paragraph or cell without markup; `line_end` stands for a line end in the source."""
    tokens = [token for child in node.children if child.type == "inline" for token in child.to_tokens()]
    return "".join(_words(word, line_end) for token in tokens for word in token.children or ()).strip()


def _words(token: Token, line_end: str) -> str:
    match token.type:
        case "softbreak":
            return line_end
        case "hardbreak":
            return "\n"
        case "html_inline":
            return "\n" if _LINE_BREAK.match(token.content) else ""
        case _:  # text, code, and for an image what stands for it; marks of emphasis and links have no content
            return token.content
