"""What a search found: hits, best first, and the evidence for how much they can be trusted."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

MetadataValue: TypeAlias = str | int | float | bool

_LEGS = frozenset(("keyword", "vector"))


@dataclass(frozen=True, slots=True)
class Generation:
    """The generation that answered; `revision` rises with every applied change."""

    id: str
    revision: int


@dataclass(frozen=True, slots=True)
class Hit:
    """A chunk of a document. `text` is the body from code point `start` to `end`; `tokens` are its word pieces."""

    chunk_id: str
    document_id: str
    title: str
    uri: str
    heading_path: tuple[str, ...]
    pages: tuple[int, ...]
    text: str
    start: int
    end: int
    ordinal: int
    tokens: int
    locale: str
    metadata: Mapping[str, MetadataValue]


@dataclass(frozen=True, slots=True)
class Evidence:
    """Raw signals of the whole result. `best_cosine`, in [-1, 1], is None when the vector leg found nothing.

    `matching_chunks` counts the chunks that the filter leaves, where no hit was found. `model` made the vectors.
    """

    model: str
    best_cosine: float | None
    matching_chunks: int | None


@dataclass(frozen=True, slots=True)
class Found:
    """Hits, best first; `degraded` names the parts that were skipped."""

    hits: tuple[Hit, ...]
    evidence: Evidence
    generation: Generation
    degraded: frozenset[str]

    @property
    def missing_legs(self) -> frozenset[str]:
        """The legs that were skipped: what they would have found is unknown."""
        return _LEGS & self.degraded
