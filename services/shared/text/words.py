"""Where words and codes begin and end, in text that `normalise` has been over.

A *word* is a run of letters and digits with their combining marks. A *code* is a word with signs that belong to it:
`1-12`, `E5_3`, `v2.1`, `C++`, `.NET`, `__init__`; so is a Persian word with a non-joiner in it. A *run* is text in a
script that writes no spaces, where words are not marked. Apostrophes part words: Türkiye'nin, l'eau.
"""

from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

import regex

# Korean writes spaces, but its particles cling to the word before and Snowball does not know the language.
UNSPACED = r"\p{Han}\p{Hiragana}\p{Katakana}ー\p{Hangul}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}"
WORD_CHARACTER = rf"[[\p{{L}}\p{{N}}\p{{M}}]--[{UNSPACED}]]"

_WORD = rf"[[\p{{L}}\p{{N}}]--[{UNSPACED}]]{WORD_CHARACTER}*+"
_LETTER = rf"[\p{{L}}--[{UNSPACED}]]\p{{M}}*"
# A comma, colon or slash joins only digits (1,000, 10:30, 1/2): elsewhere it parts words.
_JOINER = r"(?:[-.&@+#\u200c]|_++|(?<=\p{N})[,:/](?=\p{N}))"
_PIECE = regex.compile(
    rf"(?V1)(?P<run>[{UNSPACED}][{UNSPACED}\p{{M}}]*+)"
    rf"|(?P<word>(?:(?<![\p{{L}}\p{{N}}\p{{M}}.])\.(?=\p{{L}})|__)?{_WORD}(?:{_JOINER}{_WORD})*+(?:[+#]++|__)?)"
)
# Signs that some write and others do not: e-mail, U.S.A., 1,000.
_OPTIONAL_SIGNS = regex.compile(
    rf"(?V1)(?:{_LETTER})+(?:-(?:{_LETTER})+)+|{_LETTER}(?:\.{_LETTER})+|\p{{N}}{{1,3}}(?:,\p{{N}}{{3}})+"
)
_PART = regex.compile(rf"(?V1)({_WORD})([+#]*)")
_CHARACTER = regex.compile(r"(?V1)\X")


class Piece(NamedTuple):
    """A word or code as written, or a run."""

    text: str
    is_run: bool


def find_pieces(text: str) -> Iterator[Piece]:
    """The words, codes and runs of normalised `text` in order; whatever lies between them is dropped."""
    for match in _PIECE.finditer(text):
        yield Piece(match.group(), match.lastgroup == "run")


def code_parts(word: str) -> tuple[str, ...]:
    """The plain words inside a word or code; a letter alone keeps its sign, so that `C++` is never `C`.

    A plain word has itself as its only part.
    """
    return tuple(part + signs if len(part) == 1 and part.isalpha() else part for part, signs in _PART.findall(word))


def without_optional_signs(code: str) -> str:
    """`code` as those write it who leave signs out: e-mail as email, U.S.A as USA, 1,000 as 1000; others stay."""
    return regex.sub(r"[-.,]", "", code) if _OPTIONAL_SIGNS.fullmatch(code) else code


def run_characters(run: str) -> list[str]:
    """The characters of a run as a reader counts them: a Thai consonant with its vowel sign and tone is one."""
    return list(_CHARACTER.findall(run))


def capitals_tell(text: str) -> bool:
    """True where capitals set a word apart: some letter of `text` is not a capital."""
    return not all(character.isupper() for character in text if character.isalpha())


def is_in_capitals(word: str) -> bool:
    """True for TOIL, R&D and GPT4: no small letter and at least two capitals."""
    return word.isupper() and sum(character.isalpha() for character in word) > 1


@lru_cache(maxsize=65_536)
def is_ideograph(character: str) -> bool:
    """True for a Han character, which often is a word by itself."""
    return regex.match(r"\p{Han}", character) is not None
