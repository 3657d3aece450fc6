"""What a query asks for to the letter: quoted phrases and codes, and whether a text holds all of them.

A code here is a word with a digit and something else in it (`E5_3`, `1-12`, `GPT4`), one with a sign other than a
hyphen (`C++`, `.NET`, `R&D`), or one in capitals in a query that is not all capitals (`what is TOIL`) or is that word
alone (`TOIL`). Numbers by themselves and words joined by hyphens are left out on purpose: over judged queries with a
number, keyword search loses 0.07 to 0.21 (nDCG@10; MRR for paper titles) when texts without it go below those with it,
and 0.06 to 0.10 over claims and titles with a hyphen.

A code is a demand where the query is about it: beside three other telling words at most. In a claim or a title it is
one word among many, and the right text often does without it (figures in docs/decisions/exact-tier.md). What only an
identifier is written like (`E5_3`, `1-12`) is a demand in every query.

What its capitals alone set apart as a code is one in a text, too, only in capitals: toil and trouble are no TOIL. All
other terms match whatever the case.
"""

from functools import lru_cache
from typing import NamedTuple

import regex

from services.shared.text.folding import NON_JOINER, fold_case, normalise
from services.shared.text.stemming import language_of
from services.shared.text.stop_words import STOP_WORDS
from services.shared.text.words import UNSPACED, WORD_CHARACTER, Piece, capitals_tell, find_pieces, is_in_capitals

MOST_OTHER_WORDS = 3
# Half the characters of a run are function words, and a word has two.
_RUN_CHARACTERS_PER_WORD = 4
# A quote mark that touches a word on its outer side is an inch or an apostrophe.
_QUOTED = regex.compile(
    r"""(?<!\w)"([^"]*)"(?!\w)|“([^“”]+)”|„([^“”„]+)[“”]|«([^«»]+)»|「([^「」]+)」|『([^『』]+)』"""
)
_HYPHENATED = regex.compile(rf"\p{{L}}[\p{{L}}\p{{M}}]*(?:[-{NON_JOINER}]\p{{L}}[\p{{L}}\p{{M}}]*)*")
_IDENTIFIER = regex.compile(r"_|\p{N}-\p{N}")
_SPACED_CHARACTER = regex.compile(rf"(?V1){WORD_CHARACTER}")


class ExactTerms(NamedTuple):
    """Phrases and codes, each once, in query order; folded, but codes that only capitals tell as written."""

    phrases: tuple[str, ...]
    codes: tuple[str, ...]


def exact_terms(query: str, locale: str) -> ExactTerms:
    """The quoted phrases of `query` and, outside them, the codes that are demands."""
    text = normalise(query)
    quoted = (_comparable("".join(groups)).strip(" .,;:!?") for groups in _QUOTED.findall(text))
    phrases = dict.fromkeys(phrase for phrase in quoted if any(find_pieces(phrase)))
    rest = _QUOTED.sub(" ", text)
    tell = capitals_tell(rest)
    codes: dict[str, None] = {}
    others: list[Piece] = []
    pieces = list(find_pieces(rest))
    for piece in pieces:
        code = None if piece.is_run else _code(piece.text, tell, alone=len(pieces) == 1)
        if code is None:
            others.append(piece)
        else:
            codes[code] = None
    if _telling_words(others, locale) > MOST_OTHER_WORDS:
        codes = {code: None for code in codes if _IDENTIFIER.search(code)}
    return ExactTerms(tuple(phrases), tuple(codes))


def contains_all(text: str, terms: ExactTerms) -> bool:
    """True if `text` holds every phrase and every code, each bounded as a word; true for no terms.

    `1-1` is not in `1-12` nor in `1-1-2`, `C` not in `C++`; `COVID-19` is in `COVID-19-related`.
    """
    written = normalise(text)
    folded = fold_case(written)
    return all(_holds(folded if term == fold_case(term) else written, term) for term in (*terms.phrases, *terms.codes))


def _telling_words(pieces: list[Piece], locale: str) -> int:
    stop_words = STOP_WORDS.get(language_of(locale), frozenset())
    words = sum(not piece.is_run and fold_case(piece.text) not in stop_words for piece in pieces)
    return words + sum(-(-len(piece.text) // _RUN_CHARACTERS_PER_WORD) for piece in pieces if piece.is_run)


def _code(word: str, tell: bool, *, alone: bool) -> str | None:
    """`word` as it is looked for; None if it is no code."""
    if not word.isnumeric() and _HYPHENATED.fullmatch(word) is None:
        return fold_case(word)
    if not is_in_capitals(word):
        return None
    if tell:
        return word
    return fold_case(word) if alone else None


def _comparable(text: str) -> str:
    return " ".join(fold_case(text).split())


def _holds(text: str, term: str) -> bool:
    bounded = _bounded(term)
    # Plain search passes over a text twenty times as fast as a pattern that begins with what must not stand before.
    begin = term.split(" ", 1)[0]
    at = text.find(begin)
    while at >= 0:
        if bounded.match(text, at):
            return True
        at = text.find(begin, at + 1)
    return False


@lru_cache(maxsize=1024)
def _bounded(term: str) -> regex.Pattern[str]:
    """A pattern that matches `term`, over any white space, only where no word or code goes on beyond it."""
    before, after = "", ""
    if _SPACED_CHARACTER.match(term[0]):
        before = rf"(?<![[\p{{L}}\p{{N}}]--[{UNSPACED}]][\p{{M}}--[{UNSPACED}]]*)"
    elif term[0] == ".":
        before = rf"(?<![{WORD_CHARACTER}.])"
    if term[0].isnumeric():
        before += r"(?<!\p{N}[-.,:/_])"
    if term[-1] in "+#":
        after = "(?![+#])"
    elif not regex.match(rf"(?V1)[{UNSPACED}]", term[-1]):
        after = rf"(?!{WORD_CHARACTER}|\+\+|[+#](?!{WORD_CHARACTER}))"
    if term[-1].isnumeric():
        after += r"(?![-.,:/_]\p{N})"
    # As str.split has it, which takes four control characters for white space.
    words = r"[\s\x1c-\x1f]+".join(map(regex.escape, term.split(" ")))
    return regex.compile(f"(?V1){before}{words}{after}")
