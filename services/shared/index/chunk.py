"""A chunk as the index stores it, gives it back and finds it. Pure."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from services.shared.index.fields import FieldValue

Vector = npt.NDArray[np.float32]
"""(d,) float32."""
Matrix = npt.NDArray[np.float32]
"""(n, d) float32, a vector a row."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredChunk:
    """A chunk as read from the index, field for field as it was written.

    `revision` is its document's. Of the fields of the document, `title`, `uri`, `locale` and `date` are empty strings
    when it has none, `date` and `metadata` are as the caller wrote them. `start` and `end` are code points of `text`
    in the document's body, `tokens` its length for the embedding model, `pages` from 1. `analysed` holds the tokens of
    context and text, parted by single spaces. `vectors` are one unit row per window in the order of the text, or None
    when they were not asked for; they do not take part in equality.
    """

    chunk_id: str
    document_id: str
    revision: int
    ordinal: int
    title: str
    uri: str
    locale: str
    date: str
    heading_path: tuple[str, ...]
    pages: tuple[int, ...]
    text: str
    context: str
    start: int
    end: int
    tokens: int
    analysed: str
    metadata: Mapping[str, FieldValue]
    vectors: Matrix | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexedChunk(StoredChunk):
    """A chunk to be written: its vectors, (windows, d) float32 with at least one row, are there."""

    vectors: Matrix = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class ChunkKey:
    """That a chunk is there: its id, its document and that document's revision."""

    chunk_id: str
    document_id: str
    revision: int


@dataclass(frozen=True, slots=True)
class LegHit:
    """A chunk found by one leg, with that leg's raw score: BM25, or the cosine of the chunk's best window.

    `read` gives the chunk as it was found; it may take some microseconds each time.
    """

    chunk_id: str
    document_id: str
    revision: int
    score: float
    read: Callable[[], StoredChunk] = field(compare=False, repr=False)

    @classmethod
    def of(cls, chunk: StoredChunk, score: float) -> "LegHit":
        """The hit of a chunk that has been read."""
        return cls(chunk.chunk_id, chunk.document_id, chunk.revision, score, lambda: chunk)

    @property
    def chunk(self) -> StoredChunk:
        """What `read` gives."""
        return self.read()
