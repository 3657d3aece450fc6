"""Citation markers in a text that arrives in pieces, told from all that only looks like one.

`[Source 2]`, `[Source 1, 2]`, `[Source 1, Source 2]`, `[1]`, `[1, 2]`, `[1-3]`, `[1][2]`. A bracket with the word is
always a marker, and what it names beyond the sources is dropped. A bare bracket is one only when all its numbers name
sources and no link target follows; else it is text. In code, and after a backslash, nothing is a marker.
"""

from collections.abc import Iterable
from dataclasses import dataclass

import regex

from services.answer.domain.markdown_code import MarkdownCode

# No marker is longer, so nothing longer is ever held back.
MAX_MARKER = 64

_SPACE = r"[^\S\n]*"
_WORD = rf"(?:(?P<word>sources?){_SPACE}[:#]?{_SPACE})?"
_ITEM = rf"(?P<item>{_WORD}[0-9]+(?:{_SPACE}[-–]{_SPACE}{_WORD}[0-9]+)?)"
_MARKER = regex.compile(rf"\[{_SPACE}{_ITEM}(?:{_SPACE}[,;]{_SPACE}{_ITEM})*{_SPACE}\]", regex.IGNORECASE)
_NUMBER = regex.compile(r"[0-9]+")
_TOKEN = regex.compile(r"`+|~+|\n|\\|\[|[^`~\n\\\[]+")


@dataclass(frozen=True, slots=True)
class Marker:
    """A source that is cited at this point of the text; None stands for one that does not exist."""

    source: int | None


@dataclass(frozen=True, slots=True)
class _Bracket:
    """A bracket that ends before `end`; without markers it is text."""

    end: int
    markers: tuple[Marker, ...]


def without_source_markers(text: str) -> str:
    """`text` with round brackets in place of those of markers with the word, in code as well: `(Source 2)`.

    For words of a document, which cite nothing here. A bare `[2]` stays: no reader of answers takes it for a marker.
    """
    return str(_MARKER.sub(lambda match: f"({match.group()[1:-1]})" if match.group("word") else match.group(), text))


class MarkerScanner:
    """Parts a text into plain text and markers; `sources` is how many there are, numbered from 1.

    However the text is cut, the plain text joined and the markers between come out the same. At most MAX_MARKER
    characters are held back, and only while they may still become a marker.
    """

    def __init__(self, sources: int) -> None:
        self._sources = sources
        self._code = MarkdownCode()
        self._held = ""

    def push(self, text: str) -> list[str | Marker]:
        """What is certain after `text`, in order."""
        return self._scan(self._held + text, is_end=False)

    def flush(self) -> list[str | Marker]:
        """The rest, when no more text comes."""
        return self._scan(self._held, is_end=True)

    def _scan(self, text: str, *, is_end: bool) -> list[str | Marker]:
        found: list[str | Marker] = []
        shown = at = 0
        while token := _TOKEN.match(text, at):
            if token.group() == "[" and not self._code.takes_literally():
                bracket = self._bracket(text, at, is_end)
                if bracket is None:
                    break
                if bracket.markers:
                    found += text[shown:at], *bracket.markers
                    shown = at = bracket.end
                    self._code.feed("]")
                    continue
            self._code.feed(token.group())
            at = token.end()
        self._held = text[at:]
        return [item for item in (*found, text[shown:at]) if item != ""]

    def _bracket(self, text: str, at: int, is_end: bool) -> _Bracket | None:
        """The bracket that opens at `at`; None while it cannot be told what it is."""
        no_marker = _Bracket(at, ())
        end = text.find("]", at, at + MAX_MARKER) + 1
        if end == 0:
            may_become = len(text) - at < MAX_MARKER and _MARKER.fullmatch(text, at, partial=True)
            return None if may_become and not is_end else no_marker
        match = _MARKER.fullmatch(text, at, end)
        if match is None:
            return no_marker
        markers = tuple(self._markers(match.captures("item")))
        if match.group("word"):
            return _Bracket(end, markers)
        if any(marker.source is None for marker in markers):
            return no_marker
        if end == len(text) and not is_end:
            return None  # a link target may follow
        return no_marker if text.startswith("(", end) else _Bracket(end, markers)

    def _markers(self, items: Iterable[str]) -> Iterable[Marker]:
        """A marker for each source that is named, once and in order, and one without source for each failing item."""
        named: dict[int, None] = {}
        failing = 0
        for item in items:
            numbers = [int(number) for number in _NUMBER.findall(item)]
            first, last = numbers[0], numbers[-1]
            named |= dict.fromkeys(range(max(first, 1), min(last, self._sources) + 1))
            failing += not 1 <= first <= last <= self._sources
        yield from (Marker(number) for number in named)
        yield from (Marker(None) for _ in range(failing))
