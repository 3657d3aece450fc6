"""What the embedding service needs from a model."""

from collections.abc import Sequence
from typing import Protocol

from services.embedding.domain.embedding import ModelFacts, Purpose
from services.embedding.domain.pairs import Pair, PairPieces, Scores
from services.embedding.domain.unit_vectors import Matrix
from services.embedding.domain.windows import Piece, TokenizedText


class UnfitModel(Exception):
    """Why a model cannot be served, as the end of a sentence that began with its name."""


class Encoder(Protocol):
    """A loaded model in two of its three stages; the third, unit vectors, is the same for all models.

    `forward` runs on the device's thread; `tokenize` runs on any thread, also while `forward` runs.
    """

    @property
    def facts(self) -> ModelFacts:
        """Name, hash, limits."""

    def tokenize(self, texts: Sequence[str], purpose: Purpose, *, truncate: bool) -> list[TokenizedText]:
        """The windows of each text, each with the model's prompt for `purpose`; none for a text without tokens."""

    def forward(self, windows: Sequence[Sequence[Piece]]) -> Matrix:
        """(n, d) float32 for the pieces of n windows, not yet of unit length."""

    def forward_in_float32(self, windows: Sequence[Sequence[Piece]]) -> Matrix:
        """As `forward`, computed in single precision whatever the model's own: what overflowed may be finite."""

    def tokenizer_json(self) -> bytes:
        """The tokenizer as a Hugging Face `tokenizer.json`, without truncation and padding; empty for none."""


class Scorer(Protocol):
    """A loaded cross-encoder; threads as for an `Encoder`."""

    @property
    def facts(self) -> ModelFacts:
        """Name, hash, limits; it has no dimensions."""

    def tokenize(self, pairs: Sequence[Pair]) -> list[tuple[PairPieces, ...]]:
        """The windows of each pair; none for one whose query leaves no room or whose passage has no token."""

    def forward(self, windows: Sequence[PairPieces]) -> Scores:
        """(n,) float32: the model's own output for n windows."""

    def forward_in_float32(self, windows: Sequence[PairPieces]) -> Scores:
        """As `forward`, computed in single precision."""
