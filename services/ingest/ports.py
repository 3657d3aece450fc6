"""What the write side needs of others."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from services.ingest.domain.blocks import ParsedDocument
from services.shared.catalog.collections import Collection
from services.shared.catalog.judgments import Judgment
from services.shared.index.chunk import Matrix

CountTokens = Callable[[Sequence[str]], list[int]]


@dataclass(frozen=True, slots=True)
class Model:
    """The facts of an embedding model; `count_tokens` counts its word pieces, special tokens left out.

    `shorter_dimensions` are those to which its vectors may be cut (Matryoshka), ascending.
    """

    name: str
    weights_sha256: str
    dimensions: int
    count_tokens: CountTokens
    shorter_dimensions: tuple[int, ...] = ()


class Embedder(Protocol):
    """The embedding service."""

    async def model(self, name: str) -> Model:
        """The model of this name, the default one for "". Raises NotFound, DependencyUnavailable."""
        ...

    async def embed(self, texts: Sequence[str], *, model: str, dimensions: int) -> list[Matrix]:
        """For each text its windows' vectors, (windows, `dimensions`), unit rows.

        Raises InvalidInput, DependencyUnavailable.
        """
        ...


class Originals(Protocol):
    """Where the original bytes of documents are kept."""

    async def get(self, digest: str) -> bytes:
        """The bytes. Raises NotFound, DependencyUnavailable."""
        ...


class Parse(Protocol):
    """Reads an original."""

    async def __call__(self, original: bytes, media_type: str) -> ParsedDocument:
        """The document's blocks. Raises InvalidInput with a sentence for the user when they cannot be read."""
        ...


@dataclass(frozen=True, slots=True)
class Found:
    """The documents of the first hits, best first, and the parts that search did without."""

    document_ids: tuple[str, ...]
    degraded: tuple[str, ...]


class Searcher(Protocol):
    """The search service."""

    async def find(self, collection: Collection, judgment: Judgment, generation_id: str) -> Found:
        """What this generation finds for the judged query. Raises NotFound, DependencyUnavailable."""
        ...
