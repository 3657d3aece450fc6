"""Where sentences begin and end, in answers that are still being written as well as in passages."""

from dataclasses import dataclass

import regex

# Stands in for a citation marker, once for each of its characters: there, but no part of any sentence.
UNSEEN = "\0"

# A gap in the text with the stop before it, if any, and enough of what follows to tell what begins there.
_GAP = regex.compile(
    r"""(?V1)
    (?:
        (?P<stop>[.!?…؟۔।॥]++[\"'”’»)\]*_]*+)(?P<gap>[\s\0]++)
      | (?P<wide_stop>[。！？｡]++[”’」』）]*+)(?P<gap>[\s\0]*+)
      | (?P<gap>[\s\0]++)
    )
    (?=(?P<next>[^\s\0]))
    (?=(?P<item>(?:[-*+•>|]|\#{1,6}|\d{1,3}[.)])[\s\0]|`{3}|~{3})?)
    """,
    regex.VERBOSE,
)
_VISIBLE = regex.compile(r"[^\s\0]")
_LAST_VISIBLE = regex.compile(r"(?r)[^\s\0]")
_BLANK_LINE = regex.compile(r"\n[ \t\r\0]*\n")
_HEADING = regex.compile(r"\#{1,6}[ \t]")
_FENCE = regex.compile(r"`{3,}(?![^\n]*`)|~{3,}")
_LIST_NUMBER = regex.compile(r"\d{1,3}")
_ABBREVIATION = regex.compile(r"(?<!\w)(?:\p{L}|Dr|Mr|Mrs|Ms|Prof|St|Jr|vs|cf|Fig|approx|ca|al)\Z")


@dataclass(frozen=True, slots=True)
class Span:
    """Code points from `start` up to but not including `end`."""

    start: int
    end: int


def sentence_spans(text: str) -> list[Span]:
    """The sentences of `text` in order, without the white space and the UNSEEN characters around them.

    A sentence ends at a stop before a gap (no gap is needed in Chinese and Japanese), unless an abbreviation or a small
    letter shows that it goes on; at a blank line; before a list item, table row, quotation or heading; and after a
    heading. Other line breaks are only gaps. A fenced block of code is a sentence of its own, whatever stands in it.
    All spans but the last stay as they are when text is added at the end.
    """
    first, last = _VISIBLE.search(text), _LAST_VISIBLE.search(text)
    if first is None or last is None:
        return []
    spans: list[Span] = []
    start = first.start()
    for match in _GAP.finditer(text, start):
        if _ends_sentence(text, start, match):
            spans.append(Span(start, match.start("gap")))
            start = match.end()
    return [*spans, Span(start, last.end())]


def _ends_sentence(text: str, start: int, match: "regex.Match[str]") -> bool:
    gap = match.group("gap")
    if fence := _FENCE.match(text, start):
        return "\n" in gap and _closes(text[start : match.start("gap")], fence.group())
    if "\n" in gap and (match.group("item") or _BLANK_LINE.search(gap) or _HEADING.match(text, start)):
        return True
    if match.group("wide_stop"):
        return True
    stop = match.group("stop")
    if not stop or match.group("next").islower():
        return False
    before = text[start : match.start()]
    return not (stop.startswith(".") and (_ABBREVIATION.search(before) or _LIST_NUMBER.fullmatch(before)))


def _closes(block: str, fence: str) -> bool:
    """The last line of `block`, which `fence` opened, closes it."""
    _, line_break, line = block.rpartition("\n")
    return bool(line_break) and line.strip().startswith(fence) and not line.strip(f"{fence[0]} \t\r{UNSEEN}")
