"""Turns the plain text of Python's own topics (`pydoc_data.topics`) into Markdown that says the same.

The text is what a reStructuredText document looks like on a terminal: headings are underlined, code is indented, and
names stand as they are, underscores and all, which Markdown would take for emphasis.
"""

import re
import textwrap
from collections.abc import Iterator

# How headings are underlined, outermost first.
_UNDERLINES = "*=-~"
_UNDERLINE = re.compile(rf"([{re.escape(_UNDERLINES)}])\1{{2,}}")
_LIST_ITEM = re.compile(r"([*-]|\d+\.) +")
_PROSE = re.compile(r"\s*([A-Z][a-z]+ [a-z]+|[*-] )")
# Indented so far beyond what it belongs to, Markdown takes a block for code by itself and leaves it as it is.
_CODE_INDENT = 4
# What Markdown would take for a sign of its own; a star only inside quotes, elsewhere it marks emphasis here too.
_SIGNS = re.compile(r'[\\`_<]|"[^"\n]*"')


def to_markdown(text: str) -> str:
    """`text` with Markdown headings, fenced grammar, code and tables, and every name as it was written."""
    return "\n\n".join(_blocks(re.split(r"\n\s*\n", text.strip("\n"))))


def _blocks(blocks: list[str]) -> Iterator[str]:
    owner = ""  # the block that an indented one belongs to
    at = 0
    while at < len(blocks):
        block = blocks[at]
        at += 1
        if _is_code(block, owner):
            while at < len(blocks) and blocks[at].startswith("   ") and not _PROSE.match(blocks[at]):
                block = f"{block}\n\n{blocks[at]}"
                at += 1
            yield f"```\n{textwrap.dedent(block)}\n```"
            owner = owner.removesuffix(":")
        elif _indent(block) >= _CODE_INDENT + _content_indent(owner):
            yield block
        else:
            yield _heading(block) or _escaped(block)
            owner = owner if block.startswith(" ") else block


def _is_code(block: str, owner: str) -> bool:
    """Whether a block is a table, grammar, a session, or what a paragraph that ends with a colon announces."""
    if block.lstrip().startswith("+-"):
        return True
    announced = owner.endswith(":") and not _LIST_ITEM.match(owner) and not _PROSE.match(block)
    first = block.split("\n", maxsplit=1)[0]
    return _indent(block) == 3 and (announced or "::=" in first or first.startswith("   >>>"))


def _indent(block: str) -> int:
    return len(block) - len(block.lstrip(" "))


def _content_indent(owner: str) -> int:
    """How far the text of a list item is indented; 0 for any other block."""
    item = _LIST_ITEM.match(owner)
    return len(item[0]) if item else 0


def _heading(block: str) -> str | None:
    lines = block.split("\n")
    if len(lines) < 2 or not _UNDERLINE.fullmatch(lines[1]):
        return None
    heading = f"{'#' * (_UNDERLINES.index(lines[1][0]) + 1)} {_escaped(lines[0])}"
    return "\n\n".join([heading, *([_escaped("\n".join(lines[2:]))] if lines[2:] else [])])


def _escaped(text: str) -> str:
    def escape(match: re.Match[str]) -> str:
        return re.sub(r"[\\`_<*]", r"\\\g<0>", match[0])

    return _SIGNS.sub(escape, text)
