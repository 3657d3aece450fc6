"""Spellings that a reader takes for the same word: what a stem is made of. A surface keeps its spelling."""

import unicodedata
from collections.abc import Callable, Mapping

import regex

_MARKS = regex.compile(r"(?<=[\p{Latin}\p{Greek}])\p{Mn}+")
_PLAIN_LETTERS = str.maketrans(
    {"æ": "ae", "œ": "oe", "ø": "o", "đ": "d", "ð": "d", "ł": "l", "ħ": "h", "þ": "th", "ŋ": "n", "ё": "е"}
)

_ALEFS = str.maketrans({"أ": "ا", "إ": "ا", "آ": "ا", "ٱ": "ا", "ى": "ي"})
_ARTICLE = regex.compile(r"^(?:[وبكف]?ال|لل)(?=\p{L}{3})")
_CIRCUMFLEXES = str.maketrans("âîû", "aiu")
# A nasal before a consonant of its class is written as an anusvara as often: हिन्दी, हिंदी.
_NASALS = regex.compile(r"ङ्(?=[क-घ])|ञ्(?=[च-झ])|ण्(?=[ट-ढ])|न्(?=[त-ध])|म्(?=[प-भ])|ँ")
_NUKTA = "\u093c"


def common_spelling(word: str, language: str) -> str:
    """The folded `word` as the stemmer of `language` is to read it, in the commonest of its spellings."""
    respell = _RESPELL.get(language)
    return word if respell is None or word.isascii() else respell(word)


def bare_letters(word: str) -> str:
    """`word` without the accents on Latin and Greek letters, and without ligatures: café is cafe, œuvre is oeuvre."""
    if word.isascii():
        return word
    letters: str = _MARKS.sub("", unicodedata.normalize("NFD", word.translate(_PLAIN_LETTERS)))
    return unicodedata.normalize("NFKC", letters).translate(_PLAIN_LETTERS)


def _arabic(word: str) -> str:
    bare: str = _ARTICLE.sub("", word.translate(_ALEFS))
    return bare


def _devanagari(word: str) -> str:
    return unicodedata.normalize("NFKC", _NASALS.sub("ं", unicodedata.normalize("NFD", word).replace(_NUKTA, "")))


def _persian(word: str) -> str:
    return word.replace("\u0654", "").replace("ۀ", "ه")


def _turkish(word: str) -> str:
    return word.translate(_CIRCUMFLEXES)


_RESPELL: Mapping[str, Callable[[str], str]] = {
    "ar": _arabic, "en": bare_letters, "fa": _persian, "hi": _devanagari, "mr": _devanagari, "ne": _devanagari,
    "tr": _turkish,
}  # fmt: skip
