"""Where text may be cut: at lines, sentences, words and, when nothing else is left, between characters.

Every function takes a text and a range of it and yields (start, end) in code points of the whole text, in order and
without white space around; together they hold everything else. No cut falls inside a grapheme cluster. All are linear.
"""

from collections.abc import Iterator

import regex

Span = tuple[int, int]

# White space as str.isspace() knows it, and what clings to the character before it, be that a space.
_BLANK = r"[\s\x1c-\x1f]"
_INK = r"[^\s\x1c-\x1f]"
_CLINGS = r"[\p{GCB=Extend}\p{GCB=SpacingMark}\p{GCB=ZWJ}]"
_CLOSES = r"""[\p{Pe}\p{Pf}"']"""

_FIRST_INK = regex.compile(rf"{_INK}|{_BLANK}(?={_CLINGS})")
_WORD = regex.compile(rf"(?:{_INK}|{_BLANK}(?={_CLINGS}))++")
# Full stops that need no space after them (。 । ؟ ۔ ။ ។) and those that do, lest 3.14 and node.js be cut.
_SENTENCE_END = regex.compile(
    rf"(?V1)(?P<sure>[\p{{STerm}}--[.!?]](?:\p{{STerm}}|{_CLOSES})*+(?!{_CLINGS}))"
    rf"|(?<![.!?…])(?P<stop>[.!?…]++){_CLOSES}*+(?={_BLANK})"
)
_LAST_WORD = regex.compile(r"[\p{L}\p{M}\p{N}.]+$")
_LAST_WORD_REACH = 8  # code points; more than the longest abbreviation

# What stands before a capital or a number with a full stop that does not end a sentence.
_ABBREVIATION_LIST = """
    al approx art bkz bzw ca cf ch chap co corp doç dr e.g ed eds eq eqs fig figs gen hr i.e inc jr ltd mr mrs ms nr no
    núm op örn p pp prof ref refs rev sec sect sen sr sra st tab u.a univ v vgl vol vs z.b г ул т.е т.к
"""
_ABBREVIATIONS = frozenset(_ABBREVIATION_LIST.split())


def line_spans(text: str, start: int, end: int) -> Iterator[Span]:
    """The lines that are not blank; a line keeps its indentation."""
    while start < end:
        newline = text.find("\n", start, end)
        stop = end if newline < 0 else newline
        line = text[start:stop].rstrip()
        if line:
            yield start, start + len(line)
        start = stop + 1


def sentence_spans(text: str, start: int, end: int) -> Iterator[Span]:
    """The sentences, ended by the punctuation of their script.

    In doubt two sentences stay one: before a small letter, after an initial, a known abbreviation or a number of one
    or two digits.
    """
    begin = start
    for match in _SENTENCE_END.finditer(text, start, end):
        if match["sure"] or _ends_sentence(text, match.start("stop"), match.end(), end):
            yield from _without_blanks(text, begin, match.end())
            begin = match.end()
    yield from _without_blanks(text, begin, end)


def word_spans(text: str, start: int, end: int) -> Iterator[Span]:
    """The stretches between white space."""
    for match in _WORD.finditer(text, start, end):
        yield match.span()


def cluster_spans(text: str, start: int, end: int, count: int) -> Iterator[Span]:
    """Groups of at most `count` grapheme clusters of a stretch without white space."""
    for match in regex.finditer(rf"\X{{1,{count}}}", text, pos=start, endpos=end):
        yield match.span()


def _ends_sentence(text: str, stop: int, after: int, end: int) -> bool:
    """Whether the full stop at `stop` ends a sentence, given that white space begins at `after`."""
    following = _FIRST_INK.search(text, after, end)
    if following is None or following.group().islower():
        return False
    if text[stop] != "." or text[stop + 1] == ".":
        return True
    last = _LAST_WORD.search(text, max(0, stop - _LAST_WORD_REACH), stop)
    word = last.group() if last else ""
    initial = len(word) == 1 and word.isupper()
    short_number = word.isnumeric() and len(word) < len("100")
    return not (initial or short_number or word.lower() in _ABBREVIATIONS)


def _without_blanks(text: str, start: int, end: int) -> Iterator[Span]:
    first = _FIRST_INK.search(text, start, end)
    if first:
        yield first.start(), start + len(text[start:end].rstrip())
