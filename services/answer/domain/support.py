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
_BRACKETED_NUMBERS = regex.compile(r"\[[\d\s,;–-]+\]")

# Whole words, by language; `no` denies in Spanish and means `in the` in Portuguese.
_NEGATIONS = {
    language: frozenset(fold_case(word) for word in words.split())
    for language, words in {
        "de": "nicht nichts nie niemals niemand kein keine keinem keinen keiner keines ohne weder",
        "en": "no not never none nobody nothing nowhere neither nor without cannot",
        "es": "no nunca jamás nada nadie ningún ninguna ninguno sin tampoco",
        "fr": "pas jamais rien aucun aucune sans ni",
        "hi": "नहीं न मत बिना",
        "it": "non mai niente nulla nessun nessuna nessuno senza né",
        "nl": "niet niets nooit niemand geen zonder",
        "pt": "não nunca jamais nada ninguém nenhum nenhuma sem",
        "ru": "не нет никогда никто ничего нельзя без",
        "tr": "değil yok hayır asla hiçbir",
    }.items()
}
# For a text whose language is not here: those that no other script or language can mean otherwise, and English.
_NEGATIONS_ELSEWHERE = _NEGATIONS["en"] | _NEGATIONS["hi"] | _NEGATIONS["ru"]
# Where words are not marked: what denies, but for words in which it does not. Runs are Chinese where no locale says so.
_NEGATIONS_IN_RUNS = {
    "zh": regex.compile(r"不(?![仅僅同断斷])|[没沒]|[无無](?![线線])|未(?![来來])"),
    "ja": regex.compile(r"(?<!少)ない|(?<!少)なかった|ません|なく|ずに"),
}
# Words that only lead to other words, as in `see [2] and [3]`.
_POINTING = frozenset(fold_case(word) for word in ("see", "cf", "siehe", "vgl", "voir", "véase", "vedi", "bkz"))


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
        "negation": score >= MIN_OVERLAP and _denies_otherwise(sentence, passage, locale),
        "meaning": score < MIN_OVERLAP,
    }
    return Support(score, tuple(reason for reason, disagrees in disagreements.items() if disagrees))


def _overlap(sentence: str, text: str, locale: str) -> float:
    """Share of the sentence's tokens that `text` holds; surfaces and stems both count. 0 where it says nothing."""
    if not _says_something(sentence, locale):
        return 0.0
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


def _says_something(sentence: str, locale: str) -> bool:
    """Some word is neither a function word nor one that points elsewhere; numbers in brackets point, too."""
    empty = STOP_WORDS.get(language_of(locale), frozenset()) | _POINTING
    pieces = find_pieces(normalise(_BRACKETED_NUMBERS.sub(" ", sentence)))
    return any(fold_case(piece.text) not in empty or is_in_capitals(piece.text) for piece in pieces)


def _denies_otherwise(sentence: str, passage: str, locale: str) -> bool:
    """`sentence` denies what `passage` says or the other way about; told by the nearest sentence, if one is near."""
    nearest = _nearest_sentence(sentence, passage, locale)
    if _overlap(sentence, nearest, locale) >= MIN_OVERLAP:
        return _is_negated(sentence, locale) != _is_negated(nearest, locale)
    return _is_negated(sentence, locale) and not _is_negated(passage, locale)


def _is_negated(text: str, locale: str) -> bool:
    language = language_of(locale)
    text = normalise(text)
    words = {fold_case(piece.text) for piece in find_pieces(text) if not piece.is_run}
    in_runs = _NEGATIONS_IN_RUNS.get(language, _NEGATIONS_IN_RUNS["zh"])
    return (
        not words.isdisjoint(_NEGATIONS.get(language, _NEGATIONS_ELSEWHERE))
        or (language not in _NEGATIONS.keys() - {"en"} and "n't" in fold_case(text))
        or in_runs.search(text) is not None
    )


def _nearest_sentence(sentence: str, passage: str, locale: str) -> str:
    """The passage's sentence that shares most words with `sentence`, the first of equals."""
    sentences = [passage[span.start : span.end] for span in sentence_spans(passage)]
    return max(sentences, key=lambda candidate: _overlap(sentence, candidate, locale), default="")
