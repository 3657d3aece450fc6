"""An encoder whose device does what the test wants."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from services.embedding.adapters.hashing_encoder import HashingEncoder
from services.embedding.domain.embedding import ModelFacts, Purpose
from services.embedding.domain.unit_vectors import Matrix
from services.embedding.domain.windows import Piece, TokenizedText

Forward = Callable[[Sequence[Sequence[Piece]]], Matrix]


class FakeEncoder:
    """Tokenises as the hashing encoder does; `forward` can be replaced after the model has been tried at its start."""

    def __init__(self, *, name: str = "fake", dimensions: int | None = None, without_tokens: str = "") -> None:
        self._hashing = HashingEncoder()
        facts = self._hashing.facts
        self._facts = replace(facts, name=name, kind="fake", dimensions=dimensions or facts.dimensions)
        self._without_tokens = without_tokens
        self.hashed: Forward = self._hashing.forward
        self.compute: Forward = self.hashed
        self.in_float32: Forward | None = None
        self.batches: list[int] = []

    @property
    def facts(self) -> ModelFacts:
        return self._facts

    def tokenize(self, texts: Sequence[str], purpose: Purpose, *, truncate: bool) -> list[TokenizedText]:
        known = self._hashing.tokenize(texts, purpose, truncate=truncate)
        return [
            TokenizedText(0, ()) if text == self._without_tokens else tokenized
            for text, tokenized in zip(texts, known, strict=True)
        ]

    def forward(self, windows: Sequence[Sequence[Piece]]) -> Matrix:
        self.batches.append(len(windows))
        return self.compute(windows)

    def forward_in_float32(self, windows: Sequence[Sequence[Piece]]) -> Matrix:
        self.batches.append(len(windows))
        return (self.in_float32 or self.compute)(windows)

    def tokenizer_json(self) -> bytes:
        return self._hashing.tokenizer_json()
