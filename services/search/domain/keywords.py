"""What the keyword leg looks for: the query's own tokens and those of its synonyms."""

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache

from services.shared.text.analyzer import MAX_QUERY_TERMS, analyze_query
from services.shared.text.folding import fold_case, normalise
from services.shared.text.words import find_pieces

# In a short query the form of a word tells (a headword, a topic); in a sentence grammar chose it, and a word whose form
# happens to agree would count twice. Figures in docs/decisions/stems-in-long-queries.md.
SURFACES_UP_TO = 5


def keyword_tokens(text: str, locale: str, synonyms: Mapping[str, Sequence[str]]) -> list[str]:
    """The different tokens to look for, at most MAX_QUERY_TERMS, the query's own first; empty when it has no words.

    A term of `synonyms` whose words stand in the query side by side, in any case, adds the tokens of its expansions.
    """
    tokens = analyze_query(text, locale, surfaces_up_to=SURFACES_UP_TO)
    if tokens and synonyms:
        for _, expansion in expansions(text, synonyms):
            tokens += analyze_query(expansion, locale, surfaces_up_to=SURFACES_UP_TO)
    return list(dict.fromkeys(tokens))[:MAX_QUERY_TERMS]


def expansions(text: str, synonyms: Mapping[str, Sequence[str]]) -> Iterator[tuple[str, str]]:
    """The terms of `synonyms` that stand in `text`, each with each of its expansions, in the order of `synonyms`."""
    words = words_of(text) if synonyms else ()
    for term, expanded in synonyms.items():
        wanted = words_of(term)
        if wanted and any(words[at : at + len(wanted)] == wanted for at in range(len(words) - len(wanted) + 1)):
            yield from ((term, expansion) for expansion in expanded)


# A collection may have 5,000 terms, each of which takes 5 µs to read.
@lru_cache(maxsize=16_384)
def words_of(text: str) -> tuple[str, ...]:
    """The words of `text` as they are compared with a term's: whatever their case."""
    return tuple(fold_case(piece.text) for piece in find_pieces(normalise(text)))
