"""What every engine asks of a chunk before it writes it. Pure."""

import numpy as np

from services.shared.index.chunk import IndexedChunk, Matrix
from services.shared.index.fields import FieldType, FieldValue, comparable
from services.shared.runtime.errors import InvalidInput

# How far from 1 the length of a stored vector may be: bfloat16, the coarsest form a model may give, is good to 0.4 %.
_LENGTH_TOLERANCE = 0.01


def checked_vectors(chunk: IndexedChunk, dimensions: int) -> Matrix:
    """The chunk's vectors, which are unit rows of this many dimensions, at least one. Raises InvalidInput otherwise."""
    shape = chunk.vectors.shape
    if len(shape) != 2 or shape[0] < 1 or shape[1] != dimensions:
        raise InvalidInput(f"Vectors of shape {shape} do not fit (windows, {dimensions}).", field="vectors")
    # Written so that NaN, which is on no side of a comparison, fails too.
    if not np.all(np.abs(np.linalg.norm(chunk.vectors, axis=1) - 1) <= _LENGTH_TOLERANCE):
        raise InvalidInput("Vectors must have unit length.", field="vectors")
    return chunk.vectors


def comparable_metadata(chunk: IndexedChunk, name: str, declared: FieldType) -> FieldValue | None:
    """The chunk's value of a declared field in its comparable form, None when it is missing.

    Raises InvalidInput when it is of another type than declared.
    """
    value = chunk.metadata.get(name)
    if value is None:
        return None
    try:
        return comparable(value, declared)
    except ValueError as error:
        raise InvalidInput(
            f"{name} of document {chunk.document_id} is a field of type {declared} and takes {error}.",
            field=f"metadata.{name}",
        ) from None
