"""What the embedding service needs from a model."""

from collections.abc import Sequence
from typing import Protocol

from services.embedding.domain.embedding import ModelFacts, Purpose
from services.embedding.domain.unit_vectors import Matrix
from services.embedding.domain.windows import TokenizedText


class Encoder(Protocol):
    """A loaded model in two of its three stages; the third, unit vectors, is the same for all models.

    `forward` runs on the device's thread; `tokenize` runs on any thread, also while `forward` runs.
    """

    @property
    def facts(self) -> ModelFacts:
        """Name, hash, limits."""

    def tokenize(self, texts: Sequence[str], purpose: Purpose, *, truncate: bool) -> list[TokenizedText]:
        """The windows of each text, each with the model's prompt for `purpose`; none for a text without tokens."""

    def forward(self, windows: Sequence[Sequence[int]]) -> Matrix:
        """(n, d) float32 for the pieces of n windows, not yet of unit length."""

    def tokenizer_json(self) -> bytes:
        """The tokenizer as a Hugging Face `tokenizer.json`, without truncation and padding."""
