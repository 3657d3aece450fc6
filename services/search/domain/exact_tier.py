"""Exact hits first: who types a code or quotes a phrase wants the texts that hold it, which fusion cannot promise."""

from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

from services.shared.text.exact import contains_all, exact_terms

T = TypeVar("T")


def exact_matches(query: str, passages: Mapping[str, str]) -> frozenset[str]:
    """The keys of the passages that hold every quoted phrase and every code of `query`; none when it has neither."""
    terms = exact_terms(query)
    if not (terms.phrases or terms.codes):
        return frozenset()
    return frozenset(key for key, text in passages.items() if contains_all(text, terms))


def exact_first(items: Sequence[T], is_exact: Callable[[T], bool]) -> list[T]:
    """The exact items, then the others; within each part the given order holds."""
    return sorted(items, key=lambda item: not is_exact(item))
