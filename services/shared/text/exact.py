"""What a query asks for to the letter: quoted phrases and codes, and whether a text holds all of them.

A code here is a word with a digit and something else in it (`E5_3`, `1-12`, `GPT4`), one with a sign other than a
hyphen (`C++`, `.NET`, `R&D`), or one in capitals in a query that is not all capitals (`TOIL`). Numbers by themselves
and words joined by hyphens are left out on purpose: over judged queries with a number, keyword search loses 0.07 to
0.21 (nDCG@10; MRR for paper titles) when texts without it go below those with it, and 0.06 to 0.10 over claims and
titles with a hyphen. Words in capitals cost long topical queries 0.01 to 0.16 too, but the lookup of an acronym needs
them.

What is a code by its capitals alone is one in a text, too, only in capitals: toil and trouble are no TOIL. All other
terms match whatever the case.
"""

from typing import NamedTuple

import regex

from services.shared.text.folding import fold_case, normalise
from services.shared.text.words import UNSPACED, WORD_CHARACTER, capitals_tell, find_pieces, is_in_capitals

# A quote mark that touches a word on its outer side is an inch or an apostrophe.
_QUOTED = regex.compile(
    r"""(?<!\w)"([^"]*)"(?!\w)|“([^“”]+)”|„([^“”„]+)[“”]|«([^«»]+)»|「([^「」]+)」|『([^『』]+)』"""
)
_HYPHENATED = regex.compile(r"\p{L}[\p{L}\p{M}]*(?:-\p{L}[\p{L}\p{M}]*)*")
_SPACED_CHARACTER = regex.compile(rf"(?V1){WORD_CHARACTER}")


class ExactTerms(NamedTuple):
    """Phrases and codes, each once, in query order; folded, but codes that only capitals tell as written."""

    phrases: tuple[str, ...]
    codes: tuple[str, ...]


def exact_terms(query: str) -> ExactTerms:
    """The quoted phrases and, outside them, the codes of `query`."""
    text = normalise(query)
    quoted = (_comparable("".join(groups)).strip(" .,;:!?") for groups in _QUOTED.findall(text))
    phrases = dict.fromkeys(phrase for phrase in quoted if any(find_pieces(phrase)))
    rest = _QUOTED.sub(" ", text)
    tell = capitals_tell(rest)
    codes = dict.fromkeys(
        code for piece in find_pieces(rest) if not piece.is_run and (code := _code(piece.text, tell)) is not None
    )
    return ExactTerms(tuple(phrases), tuple(codes))


def contains_all(text: str, terms: ExactTerms) -> bool:
    """True if `text` holds every phrase and every code, each bounded as a word; true for no terms.

    `1-1` is not in `1-12` nor in `1-1-2`, `C` not in `C++`; `COVID-19` is in `COVID-19-related`.
    """
    normalised = normalise(text)
    folded, written = _comparable(normalised), " ".join(normalised.split())
    return all(
        _bounded(term).search(folded if term == fold_case(term) else written) for term in (*terms.phrases, *terms.codes)
    )


def _code(word: str, tell: bool) -> str | None:
    """`word` as it is looked for; None if it is no code."""
    if not word.isnumeric() and _HYPHENATED.fullmatch(word) is None:
        return fold_case(word)
    return word if tell and is_in_capitals(word) else None


def _comparable(text: str) -> str:
    return " ".join(fold_case(text).split())


def _bounded(term: str) -> regex.Pattern[str]:
    """A pattern that finds `term` only where no word or code goes on beyond it."""
    before, after = "", ""
    if _SPACED_CHARACTER.match(term[0]):
        before = rf"(?<![[\p{{L}}\p{{N}}]--[{UNSPACED}]]\p{{M}}*)"
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
    return regex.compile(f"(?V1){before}{regex.escape(term)}{after}")
