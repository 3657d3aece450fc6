"""Tokens of the keyword leg: one function reads documents and queries, so the two always meet.

A word gives two tokens, `w:` with its folded surface and `s:` with its stem, so that a stem never meets a surface by
accident; where Snowball does not know the locale's language the stem is the surface without its accents, so that a word
weighs the same in every locale. A surface keeps its spelling, a stem stands for all of them: résumé and resume meet.
A code gives `w:` with the whole code and the tokens of its parts; e-mail gives those of email, too. A run in a script
without spaces gives `w:` for every two neighbouring characters and for every single ideograph: a Chinese word may be
one character, and nDCG@10 on Chinese XQuAD is 0.971 with them and 0.966 without. No token holds white space.
"""

from functools import lru_cache
from itertools import pairwise

from services.shared.text.folding import fold_case, normalise
from services.shared.text.stemming import has_stemmer, language_of, stems
from services.shared.text.stop_words import STOP_WORDS
from services.shared.text.words import (
    Piece,
    capitals_tell,
    code_parts,
    find_pieces,
    is_ideograph,
    is_in_capitals,
    run_characters,
    without_optional_signs,
)

ANALYZER_VERSION = "2"  # rises when the tokens of any document change: stored generations are then rebuilt
MAX_TOKEN_BYTES = 200  # UTF-8, prefix included; what is longer is a blob, and is cut
MAX_QUERY_TERMS = 64


def analyze_document(text: str, locale: str) -> list[str]:
    """The tokens of `text` in order, with repetitions."""
    language = language_of(locale)
    return [token for piece in find_pieces(normalise(text)) for token in _tokens(piece, language)]


def analyze_query(text: str, locale: str, *, surfaces_up_to: int | None = None) -> list[str]:
    """The different tokens of `text` in order, at most MAX_QUERY_TERMS, without the locale's stop words.

    Stop words stay when nothing else is left, and where they are written in capitals among other words: IT support.
    In a text of more than `surfaces_up_to` words, those that Snowball stems ask by their stems alone; None: never. A
    text without words (`???`) has no tokens.
    """
    language = language_of(locale)
    stop_words = STOP_WORDS.get(language, frozenset())
    pieces = list(find_pieces(normalise(text)))
    tell = capitals_tell(text)
    telling = [
        piece for piece in pieces if fold_case(piece.text) not in stop_words or (tell and is_in_capitals(piece.text))
    ] or pieces
    tokens = dict.fromkeys(token for piece in telling for token in _tokens(piece, language))
    words = [piece.text for piece in telling if not piece.is_run]
    left_out: set[str] = set()
    if surfaces_up_to is not None and len(words) > surfaces_up_to and has_stemmer(language):
        left_out = {surface_token(plain) for word in words for plain in _plain_words(word)}
    return [token for token in tokens if token not in left_out][:MAX_QUERY_TERMS]


def surface_token(word: str) -> str:
    """The token for a plain `word` as it is written, but for its case."""
    return _token("w", fold_case(word[:MAX_TOKEN_BYTES]))


def _tokens(piece: Piece, language: str) -> tuple[str, ...]:
    if piece.is_run:
        return _run_tokens(piece.text)
    if len(piece.text) > MAX_TOKEN_BYTES:
        return _word_tokens(piece.text, language)
    return _remembered_word_tokens(piece.text, language)


def _run_tokens(run: str) -> tuple[str, ...]:
    characters = run_characters(run)
    pairs = [first + second for first, second in pairwise(characters)]
    singles = [character for character in characters if is_ideograph(character)] if pairs else characters
    return tuple(_token("w", fold_case(gram)) for gram in (*pairs, *singles))


def _word_tokens(word: str, language: str) -> tuple[str, ...]:
    plain_words = _plain_words(word)
    whole = () if without_optional_signs(word) in plain_words else (surface_token(word),)
    surface_and_stems = dict.fromkeys(_plain_word_tokens(plain, language) for plain in plain_words)
    return whole + tuple(token for tokens in surface_and_stems for token in tokens)


def _plain_word_tokens(word: str, language: str) -> tuple[str, ...]:
    """The surface and, right behind it, the stems: the exact tier counts on no surface of a plain word being last."""
    folded = fold_case(word[:MAX_TOKEN_BYTES])
    return _token("w", folded), *(_token("s", one) for one in stems(folded, language))


def _plain_words(word: str) -> tuple[str, ...]:
    """What has a surface and a stem: a plain word itself, a code's parts, and e-mail as email beside its parts."""
    whole = without_optional_signs(word)
    return code_parts(word) if whole == word else (whole, *code_parts(word))


# A stem costs 20 to 40 µs, a remembered word well under one; blobs are not worth the memory.
_remembered_word_tokens = lru_cache(maxsize=262_144)(_word_tokens)


def _token(prefix: str, body: str) -> str:
    return f"{prefix}:{body}".encode()[:MAX_TOKEN_BYTES].decode(errors="ignore")
