"""The words of a query, each standing for its tokens, so that a word weighs once however many tokens it has.

A word gives a surface token and a stem token, and a text that holds another form of it holds the stem: so the stem
stands for the word. A code (`E5_3`) stands for itself; its parts by themselves are not it. Words that hyphens join may
be written apart, so their parts do as well. A run without spaces has a word for every two neighbouring characters. A
synonym's expansion that a text holds whole is as good as the words of its term.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

import regex

from services.search.domain.keywords import expansions, words_of
from services.shared.text.analyzer import analyze_document, analyze_query
from services.shared.text.folding import fold_case, normalise
from services.shared.text.words import Piece, code_parts, find_pieces, run_characters

_JOINED_LETTERS = regex.compile(r"[\p{L}\p{M}]+(?:[-\u200c][\p{L}\p{M}]+)+")


@dataclass(frozen=True, slots=True)
class QueryWord:
    """A word of a query. `token` tells how rare it is; a text holds the word when it holds one of `forms` whole."""

    token: str
    forms: tuple[frozenset[str], ...]


def query_words(
    text: str, locale: str, synonyms: Mapping[str, Sequence[str]], tokens: Collection[str]
) -> tuple[QueryWord, ...]:
    """The different words of `text` in order that the keyword leg looks for, `tokens` being all that it looks for."""
    expanded = [(words_of(term), _all_tokens(expansion, locale)) for term, expansion in expansions(text, synonyms)]
    words: dict[str, QueryWord] = {}
    for piece in find_pieces(normalise(text)):
        surface = fold_case(piece.text)
        as_good = tuple(whole for term, whole in expanded if surface in term and whole)
        for word in _words_of(piece, locale, tokens):
            words.setdefault(word.token, QueryWord(word.token, (*word.forms, *as_good)))
    return tuple(words.values())


def _all_tokens(text: str, locale: str) -> frozenset[str]:
    """A token for each word of a text of which all are wanted."""
    every = analyze_query(text, locale)
    return frozenset(word.token for piece in find_pieces(normalise(text)) for word in _words_of(piece, locale, every))


def _words_of(piece: Piece, locale: str, tokens: Collection[str]) -> Iterator[QueryWord]:
    """The words of a piece by those of its tokens that are looked for; none of a stop word, which is not."""
    of_piece = analyze_document(piece.text, locale)
    if piece.is_run:
        pairs = of_piece[: max(1, len(run_characters(piece.text)) - 1)]  # they come before the single characters
        yield from (QueryWord(token, (frozenset({token}),)) for token in pairs if token in tokens)
        return
    own = [token for token in of_piece if token in tokens]
    if _JOINED_LETTERS.fullmatch(piece.text):
        stems_of_parts = [_stems(analyze_document(part, locale)) for part in code_parts(piece.text)]
        in_one_word = [stem for stem in _stems(own) if all(stem not in stems for stems in stems_of_parts)]
        for stems in stems_of_parts:
            if stems and stems[0] in own:
                yield QueryWord(stems[0], tuple(frozenset({stem}) for stem in (*stems, *in_one_word)))
    elif stems := _stems(own) if code_parts(piece.text) == (piece.text,) else own[:1]:
        yield QueryWord(stems[0], tuple(frozenset({stem}) for stem in stems))


def _stems(tokens: Sequence[str]) -> list[str]:
    return [token for token in tokens if token.startswith("s:")]
