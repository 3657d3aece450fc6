"""What the keyword leg looks for: the query's own tokens and those of its synonyms."""

from collections.abc import Iterator, Mapping, Sequence

from services.shared.text.analyzer import MAX_QUERY_TERMS, analyze_query
from services.shared.text.folding import fold_case, normalise
from services.shared.text.words import find_pieces


def keyword_tokens(text: str, locale: str, synonyms: Mapping[str, Sequence[str]]) -> list[str]:
    """The different tokens to look for, at most MAX_QUERY_TERMS, the query's own first; empty when it has no words.

    A term of `synonyms` whose words stand in the query side by side, in any case, adds the tokens of its expansions.
    """
    tokens = analyze_query(text, locale)
    if tokens and synonyms:
        for expansion in _expansions(_words(text), synonyms):
            tokens += analyze_query(expansion, locale)
    return list(dict.fromkeys(tokens))[:MAX_QUERY_TERMS]


def _expansions(words: tuple[str, ...], synonyms: Mapping[str, Sequence[str]]) -> Iterator[str]:
    for term, expansions in synonyms.items():
        wanted = _words(term)
        if wanted and any(words[at : at + len(wanted)] == wanted for at in range(len(words) - len(wanted) + 1)):
            yield from expansions


def _words(text: str) -> tuple[str, ...]:
    return tuple(fold_case(piece.text) for piece in find_pieces(normalise(text)))
