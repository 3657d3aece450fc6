"""How well a passage bears out a sentence that cites it: numbers, names and negations must agree, meaning be near.

Meaning is judged by shared words until a reader of meaning takes over, so a sentence in another language than its
passage counts as unsupported.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import regex

from services.answer.domain.sentences import sentence_spans
from services.shared.text.analyzer import analyze_document, analyze_query
from services.shared.text.folding import fold_case, normalise
from services.shared.text.stemming import language_of
from services.shared.text.stop_words import STOP_WORDS
from services.shared.text.words import code_parts, find_pieces, is_in_capitals

# Share of a sentence's tokens that its passage must hold. Chosen by hand: a paraphrase keeps about half of its words.
MIN_OVERLAP = 0.5

_NUMBER = regex.compile(r"\d+(?:[.,]\d+)*")
_GROUPING = regex.compile(r"(?<=\d),(?=\d{3}(?!\d))")
_NEGATION = regex.compile(
    r"\b(?:no|not|never|none|nobody|nothing|neither|nor|without|cannot|değil|yok|hayır|nicht|kein\w*|pas|jamais)\b"
    r"|n't\b|नहीं|[不没沒无無未]"
)


@dataclass(frozen=True, slots=True)
class Support:
    """`score` in [0, 1] is the share of the sentence's tokens that the passage holds; `reasons` say what disagrees.

    Reasons are `number`, `name`, `negation`, `meaning`, in this order.
    """

    score: float
    reasons: tuple[str, ...]


def check_support(sentence: str, *, passage: str, cited: Sequence[str], locale: str) -> Support:
    """How well `passage`, in the language `locale`, bears out `sentence`.

    `cited` are all passages that the sentence cites, `passage` among them: a sentence that joins two passages has some
    of its numbers and names from either.
    """
    known = "\n".join(cited)
    score = _overlap(sentence, passage, locale)
    disagreements = {
        "number": not _numbers(sentence) <= _numbers(known),
        "name": not _names(sentence, locale) <= _words(known),
        "negation": _is_negated(sentence) != _is_negated(_nearest_sentence(sentence, passage, locale)),
        "meaning": score < MIN_OVERLAP,
    }
    return Support(score, tuple(reason for reason, disagrees in disagreements.items() if disagrees))


def _overlap(sentence: str, text: str, locale: str) -> float:
    """Share of the sentence's tokens that `text` holds; surfaces and stems both count."""
    tokens = analyze_query(sentence, locale)
    known = set(analyze_document(text, locale))
    return sum(token in known for token in tokens) / len(tokens) if tokens else 0.0


def _numbers(text: str) -> set[str]:
    return set(_NUMBER.findall(_GROUPING.sub("", normalise(text))))


def _names(sentence: str, locale: str) -> set[str]:
    """Folded words that only a name writes so: capitalised inside the sentence, or in capitals anywhere."""
    stop_words = STOP_WORDS.get(language_of(locale), frozenset())
    words = [piece.text for piece in find_pieces(normalise(sentence)) if not piece.is_run]
    names = (
        word
        for place, word in enumerate(words)
        if is_in_capitals(word) or (place > 0 and len(word) > 1 and word[0].isupper())
    )
    return {fold_case(name) for name in names} - stop_words


def _words(text: str) -> set[str]:
    return {fold_case(word) for piece in find_pieces(normalise(text)) for word in (piece.text, *code_parts(piece.text))}


def _is_negated(text: str) -> bool:
    return _NEGATION.search(normalise(text).lower()) is not None


def _nearest_sentence(sentence: str, passage: str, locale: str) -> str:
    """The passage's sentence that shares most words with `sentence`, the first of equals."""
    sentences = [passage[span.start : span.end] for span in sentence_spans(passage)]
    return max(sentences, key=lambda candidate: _overlap(sentence, candidate, locale), default="")
