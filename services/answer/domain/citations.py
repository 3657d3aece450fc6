"""Reads an answer while it is written: the text to show, the sentences that cite sources, and a refusal at its start.

A marker belongs to the sentence that it stands in or, between two sentences, to the one before it. One that names no
source is dropped, and the blank before it with it.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypeAlias

from services.answer.domain.markers import Marker, MarkerScanner, without_source_markers
from services.answer.domain.sentences import UNSEEN, sentence_spans


@dataclass(frozen=True, slots=True)
class Shown:
    """The next piece of the answer, markers written as `[Source N]`."""

    text: str


@dataclass(frozen=True, slots=True)
class CitedSentence:
    """A sentence that cites `sources`, numbered from 1 and each once.

    `start` and `end` are code points of the answer as shown; `text` is the sentence without markers.
    """

    start: int
    end: int
    text: str
    sources: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Refused:
    """The answer begins with the refusal sentence; nothing follows."""


Piece: TypeAlias = Shown | CitedSentence | Refused


class AnswerReader:
    """Turns what a generator writes into pieces.

    However the text is cut, the text shown and the other pieces come out the same. White space before the answer is
    left out. While the text is still a prefix of the refusal sentence it is held back; later at most one open marker
    and the blank before it are. `refusal_sentence` is None where none is expected.
    """

    def __init__(self, *, sources: int, refusal_sentence: str | None) -> None:
        self._markers = MarkerScanner(sources)
        self._refusal_sentence = refusal_sentence
        self._opening: str | None = ""  # the text so far while it may be a refusal; None once that is decided
        self._blank = ""  # the last character while it is a blank that may go with a dropped marker
        self._shown = 0  # code points shown so far
        self._sentence = ""  # shown text from the start of the last sentence on, UNSEEN in place of markers
        self._cited: list[tuple[int, int]] = []  # place in the answer and source of each marker in `_sentence`
        self.dropped_markers = 0

    def read(self, text: str) -> list[Piece]:
        """What is certain after `text`; nothing after Refused."""
        if self._opening is not None:
            text = self._opening = (self._opening + text).lstrip()
            if self._refusal_sentence and text.startswith(self._refusal_sentence):
                self._opening = self._refusal_sentence
                return [Refused()]
            if not text or (self._refusal_sentence and self._refusal_sentence.startswith(text)):
                return []
            self._opening = None
        return self._pieces(self._markers.push(text))

    def quote(self, text: str, source: int) -> list[Piece]:
        """A passage's own words, in which nothing is or looks like a marker, cited as `source`; an own paragraph."""
        self._opening = None
        gap = "\n\n" if self._shown else ""
        # On the last line of a code block a marker would keep the block open.
        space = "\n" if text.endswith(("```", "~~~")) else " "
        return self._pieces([f"{gap}{without_source_markers(text)}{space}", Marker(source)])

    def finish(self) -> list[Piece]:
        """The rest, when no more text comes."""
        rest = [*self._markers.push(self._opening or ""), *self._markers.flush()]
        return [*self._pieces(rest, is_end=True), *self._ended_sentences(is_end=True)]

    def _pieces(self, items: Iterable[str | Marker], *, is_end: bool = False) -> list[Piece]:
        shown = ""
        for item in items:
            if isinstance(item, str):
                text = self._blank + item
                text = text if shown or self._shown else text.lstrip()
                self._blank = text[-1:] if text[-1:].isspace() and text[-1] != "\n" else ""
                text = text.removesuffix(self._blank)
                shown += text
                self._sentence += text
            elif item.source is None:
                self.dropped_markers += 1
                self._blank = ""
            else:
                marker = f"[Source {item.source}]"
                shown += self._blank
                self._cited.append((self._shown + len(shown), item.source))
                shown += marker
                self._sentence += self._blank + UNSEEN * len(marker)
                self._blank = ""
        if is_end:
            shown, self._sentence = shown + self._blank, self._sentence + self._blank
        self._shown += len(shown)
        return [Shown(shown), *self._ended_sentences(is_end=False)] if shown else []

    def _ended_sentences(self, *, is_end: bool) -> list[CitedSentence]:
        """The sentences that ended since the last look and cite something; a marker without any sentence is none."""
        offset = self._shown - len(self._sentence)
        spans = sentence_spans(self._sentence)
        starts = [span.start for span in spans[1:]] + ([len(self._sentence)] if is_end else [])
        ended: list[CitedSentence] = []
        for span, next_start in zip(spans, starts, strict=False):
            sources = {source: None for place, source in self._cited if place < offset + next_start}
            self._cited = [(place, source) for place, source in self._cited if place >= offset + next_start]
            if sources:
                text = self._sentence[span.start : span.end].replace(UNSEEN, "")
                ended.append(CitedSentence(offset + span.start, offset + span.end, text, tuple(sources)))
        self._sentence = self._sentence[starts[-1] :] if starts else self._sentence
        return ended
