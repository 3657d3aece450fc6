"""An encoder without weights, for tests and dry runs: texts that share words and parts of words are near each other.

It knows nothing of meaning, and its name says so wherever a model's name is shown.
"""

import hashlib
from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from tokenizers import Regex, Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import Split

from services.embedding.domain.embedding import ModelFacts, Purpose
from services.embedding.domain.unit_vectors import Matrix
from services.embedding.domain.windows import Piece, Span, TokenizedText, cut_into_windows

NAME = "hashing"
_DIMENSIONS = 384
_MAX_TOKENS = 256
_OVERLAP = 64
_GRAM = 3
# A token is a run of letters, marks and digits, or one other character that is not white space.
_TOKEN = r"\w+|[^\w\s]"


class HashingEncoder:
    """Each token gives its own hash and those of its three-letter parts; a hash is a dimension with a sign.

    A dimension holds the square root of its count, so that a word said nine times counts three times.
    """

    def __init__(self) -> None:
        recipe = f"{NAME} d={_DIMENSIONS} tokens={_MAX_TOKENS} overlap={_OVERLAP} gram={_GRAM} {_TOKEN} sqrt"
        self._facts = ModelFacts(
            name=NAME,
            kind=NAME,
            weights_sha256=hashlib.sha256(recipe.encode()).hexdigest(),
            dimensions=_DIMENSIONS,
            max_tokens=_MAX_TOKENS,
            special_tokens=0,
            device="cpu",
            dtype="float32",
        )
        self._tokenizer = Tokenizer(WordLevel({"[UNK]": 0}, unk_token="[UNK]"))
        self._tokenizer.pre_tokenizer = Split(Regex(_TOKEN), "removed", invert=True)

    @property
    def facts(self) -> ModelFacts:
        """Name, hash, limits."""
        return self._facts

    def tokenize(self, texts: Sequence[str], purpose: Purpose, *, truncate: bool) -> list[TokenizedText]:
        """The windows of each text; a query and a passage are read alike."""
        return [
            self._cut(text, [Span(*offsets) for offsets in encoding.offsets], truncate=truncate)
            for text, encoding in zip(texts, self._tokenizer.encode_batch(texts), strict=True)
        ]

    def _cut(self, text: str, tokens: Sequence[Span], *, truncate: bool) -> TokenizedText:
        def pieces(first: int, last: int) -> tuple[int, ...]:
            words = (text[span.start : span.end].casefold() for span in tokens[first:last])
            return tuple(piece for word in words for piece in _pieces(word))

        return cut_into_windows(len(text), tokens, pieces=pieces, room=_MAX_TOKENS, overlap=_OVERLAP, truncate=truncate)

    def forward(self, windows: Sequence[Sequence[Piece]]) -> Matrix:
        """(n, d): in each dimension the roots of how often it was hit with either sign."""
        counts = np.stack(
            [np.bincount(np.asarray(pieces, dtype=np.int64), minlength=2 * _DIMENSIONS) for pieces in windows]
        )
        roots = np.sqrt(counts)
        return np.asarray(roots[:, :_DIMENSIONS] - roots[:, _DIMENSIONS:], dtype=np.float32)

    def forward_in_float32(self, windows: Sequence[Sequence[Piece]]) -> Matrix:
        """The same: it computes in single precision."""
        return self.forward(windows)

    def tokenizer_json(self) -> bytes:
        """The tokenizer; every token has the same id, its text is what counts."""
        return self._tokenizer.to_str().encode()


@lru_cache(maxsize=65_536)
def _pieces(word: str) -> tuple[int, ...]:
    """Hashes from 0 to twice the dimensions: of the word and, where it is one, of its parts with its edges marked."""
    marked = f"<{word}>"
    parts = (marked[start : start + _GRAM] for start in range(len(marked) - _GRAM + 1)) if word.isalnum() else ()
    return tuple(
        int.from_bytes(hashlib.blake2b(part.encode(), digest_size=8).digest()) % (2 * _DIMENSIONS)
        for part in (marked, *parts)
    )
