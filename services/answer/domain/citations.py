"""Reads an answer while it is written: the text to show, the sentences that cite sources, and a refusal at its start.

A marker belongs to the sentence that it stands in or, between two sentences, to the one before it.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypeAlias

from services.answer.domain.markers import Marker, MarkerScanner
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
    is. `refusal_sentence` is None where none is expected.
    """

    def __init__(self, *, sources: int, refusal_sentence: str | None) -> None:
        self._markers = MarkerScanner(sources)
        self._refusal_sentence = refusal_sentence
        self._opening: str | None = ""  # the text so far while it may be a refusal; None once that is decided
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
        """A passage's own words, in which nothing is a marker, cited as `source`; a paragraph of its own."""
        self._opening = None
        gap = "\n\n" if self._shown else ""
        return self._pieces([f"{gap}{text} ", Marker(source)])

    def finish(self) -> list[Piece]:
        """The rest, when no more text comes."""
        rest = [*self._markers.push(self._opening or ""), *self._markers.flush()]
        return [*self._pieces(rest), *self._ended_sentences(is_end=True)]

    def _pieces(self, items: Iterable[str | Marker]) -> list[Piece]:
        shown = ""
        for item in items:
            if isinstance(item, str):
                shown += item
                self._sentence += item
            elif item.source is None:
                self.dropped_markers += 1
            else:
                self._cited.append((self._shown + len(shown), item.source))
                marker = f"[Source {item.source}]"
                shown += marker
                self._sentence += UNSEEN * len(marker)
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
