"""Exact hits first: who types a code or quotes a phrase wants the texts that hold it, which fusion cannot promise."""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple, TypeVar

from services.shared.text.analyzer import analyze_document
from services.shared.text.exact import ExactTerms, contains_all, exact_terms

T = TypeVar("T")


class Passage(NamedTuple):
    """A text and its tokens, parted by single spaces, as the analyzer gave them."""

    text: str
    analysed: str


def exact_matches(query: str, passages: Mapping[str, Passage]) -> frozenset[str]:
    """The keys of the passages that hold every quoted phrase and every code of `query`; none when it has neither."""
    terms = exact_terms(query)
    if not (terms.phrases or terms.codes):
        return frozenset()
    # Reading a text to the letter takes 0.05 to 0.2 ms, looking for words among its tokens 0.002 ms.
    needed = _tokens_needed(terms)
    return frozenset(
        key
        for key, passage in passages.items()
        if all(token in f" {passage.analysed} " for token in needed) and contains_all(passage.text, terms)
    )


def _tokens_needed(terms: ExactTerms) -> list[str]:
    """The surface tokens, between spaces, of the words in the terms: a text that lacks one cannot hold its term.

    Without a locale the stem is the surface; only words have a stem, so longer codes and runs, which a text may hold
    inside still longer ones, are left out.
    """
    tokens = [token for term in (*terms.phrases, *terms.codes) for token in analyze_document(term, "")]
    return [f" w:{token.removeprefix('s:')} " for token in tokens if token.startswith("s:")]


def exact_first(items: Sequence[T], is_exact: Callable[[T], bool]) -> list[T]:
    """The exact items, then the others; within each part the given order holds."""
    return sorted(items, key=lambda item: not is_exact(item))
