"""Exact hits first: who types a code or quotes a phrase wants the texts that hold it, which fusion cannot promise."""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple, TypeVar

from services.shared.text.analyzer import surface_token
from services.shared.text.exact import ExactTerms, contains_all, exact_terms
from services.shared.text.words import code_parts, find_pieces

T = TypeVar("T")


class Passage(NamedTuple):
    """A text and its tokens, parted by single spaces, as the analyzer gave them."""

    text: str
    analysed: str


def exact_matches(query: str, locale: str, passages: Mapping[str, Passage]) -> frozenset[str]:
    """The keys of the passages that hold every quoted phrase of `query`, and every code that its query is about.

    None when it has neither.
    """
    terms = exact_terms(query, locale)
    if not (terms.phrases or terms.codes):
        return frozenset()
    # Reading a text to the letter takes 0.01 to 0.2 ms, looking for words among its tokens 0.002 ms.
    needed = _tokens_needed(terms)
    return frozenset(
        key
        for key, passage in passages.items()
        if all(_has(passage.analysed, token) for token in needed) and contains_all(passage.text, terms)
    )


def _tokens_needed(terms: ExactTerms) -> list[str]:
    """The surface tokens of the plain words in the terms: a text that lacks one cannot hold its term.

    Whole codes and runs, which a text may hold inside longer ones, are left out.
    """
    words = [
        word
        for term in (*terms.phrases, *terms.codes)
        for piece in find_pieces(term)
        if not piece.is_run
        for word in code_parts(piece.text)
    ]
    return [surface_token(word) for word in dict.fromkeys(words)]


def _has(analysed: str, surface: str) -> bool:
    # A stem follows every surface of a plain word, so none is the last token.
    return f" {surface} " in analysed or analysed.startswith(f"{surface} ")


def exact_first(items: Sequence[T], is_exact: Callable[[T], bool]) -> list[T]:
    """The exact items, then the others; within each part the given order holds."""
    return sorted(items, key=lambda item: not is_exact(item))
