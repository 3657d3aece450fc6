"""Chunks for the contract, and short ways to ask."""

from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any

import numpy as np

from services.shared.index.chunk import IndexedChunk, LegHit, Matrix, StoredChunk, Vector
from services.shared.index.fields import FieldType, FieldValue
from services.shared.index.filters import Filter
from services.shared.index.port import Index

GENERATION = "g1"
FIELDS: Mapping[str, FieldType] = {
    "unit": FieldType.KEYWORD,
    "year": FieldType.INTEGER,
    "weight": FieldType.NUMBER,
    "published": FieldType.DATE,
    "reviewed": FieldType.BOOLEAN,
}
EAST: Vector = np.array([1, 0, 0, 0], dtype=np.float32)
NORTH: Vector = np.array([0, 1, 0, 0], dtype=np.float32)


def towards(cosine: float) -> Vector:
    """A unit vector whose cosine to EAST is `cosine`."""
    return np.array([cosine, np.sqrt(1 - cosine * cosine), 0, 0], dtype=np.float32)


def windows(*vectors: Vector) -> Matrix:
    return np.stack(vectors)


def a_chunk(chunk_id: str, **changes: Any) -> IndexedChunk:
    """The only chunk of a document, with one window and the one token `w:all`."""
    chunk: dict[str, Any] = {
        "chunk_id": chunk_id,
        "document_id": f"doc-{chunk_id}",
        "revision": 1,
        "ordinal": 0,
        "title": "",
        "uri": "",
        "locale": "",
        "date": "",
        "heading_path": (),
        "pages": (),
        "text": f"Text of {chunk_id}.",
        "context": "",
        "start": 0,
        "end": 10,
        "tokens": 3,
        "analysed": "w:all",
        "metadata": {},
        "vectors": windows(NORTH),
    }
    return IndexedChunk(**{**chunk, **changes})


def as_stored(chunk: IndexedChunk) -> StoredChunk:
    """The chunk as it should be read back; vectors take no part in equality."""
    return StoredChunk(**{field.name: getattr(chunk, field.name) for field in fields(chunk)})


def with_metadata(values: Sequence[Mapping[str, FieldValue]]) -> list[IndexedChunk]:
    """One chunk per mapping: c000, c001, ..."""
    return [a_chunk(f"c{place:03d}", metadata=metadata) for place, metadata in enumerate(values)]


def ids(hits: Sequence[LegHit]) -> list[str]:
    return [hit.chunk.chunk_id for hit in hits]


async def found_by_words(index: Index, *tokens: str, filter: Filter | None = None, limit: int = 100) -> list[str]:
    return ids(await index.keyword(GENERATION, tokens, filter=filter, limit=limit))


async def found_by_vector(
    index: Index, vector: Vector = EAST, *, filter: Filter | None = None, limit: int = 100
) -> list[str]:
    return ids(await index.nearest(GENERATION, vector, filter=filter, limit=limit))
