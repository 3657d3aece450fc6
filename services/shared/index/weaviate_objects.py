"""A chunk as an object of Weaviate, and back. Pure.

One object per chunk: the windows' vectors are one matrix of it, which Weaviate searches by the best row. So a chunk is
found once, its keyword text is stored and counted once, and it is replaced as a whole.
"""

import json
import struct
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Any
from uuid import UUID, uuid5

import numpy as np
from google.protobuf import struct_pb2
from weaviate.proto.v1 import base_pb2, batch_pb2, properties_pb2, search_get_pb2

from services.shared.index.checked_chunk import checked_vectors, comparable_metadata
from services.shared.index.chunk import IndexedChunk, LegHit, Matrix, StoredChunk, Vector
from services.shared.index.fields import FieldType, FieldValue, start_of_period
from services.shared.index.weaviate_class import VECTORS, GenerationClass
from services.shared.index.weaviate_filter import (
    keyword_value,
    property_of,
    stored_date,
    stored_keyword,
    stored_value,
    value_of_date,
)

COLUMNS = (
    *("chunk_id", "document_id", "revision", "ordinal", "title", "uri", "locale", "date", "heading_path", "pages"),
    *("text", "context", "start", "end", "tokens", "analysed", "metadata", "windows"),
)
"""The properties that a chunk is read back from."""

_OBJECT_IDS = UUID("5ad0cc2e-6f0b-4f0c-9d0c-1d3f7a4b5c60")
# Weaviate compares a stored row as it is, so one that is longer than this is shortened before it is stored.
_EXACT_LENGTH = 1e-6


def object_id(chunk_id: str) -> str:
    """The id of a chunk's object: any chunk id will do, and the same one gives the same object."""
    return str(uuid5(_OBJECT_IDS, chunk_id))


def to_objects(
    chunks: Sequence[IndexedChunk], class_name: str, generation: GenerationClass
) -> list[batch_pb2.BatchObject]:
    """The chunks as objects of this class.

    Raises:
        InvalidInput: as `Index.upsert`.
    """
    return [_to_object(chunk, class_name, generation) for chunk in chunks]


def multi_vector(rows: Matrix) -> base_pb2.Vectors:
    """Rows, (n, d), as Weaviate takes the vectors of one object or query."""
    packed = struct.pack("<H", rows.shape[1]) + rows.astype("<f4", copy=False).tobytes()
    return base_pb2.Vectors(name=VECTORS, vector_bytes=packed, type=base_pb2.Vectors.VECTOR_TYPE_MULTI_FP32)


def query_vector(vector: Vector) -> base_pb2.Vectors:
    """A vector to search with, at unit length."""
    whole = vector.astype(np.float64)
    return multi_vector((whole / np.linalg.norm(whole)).astype(np.float32)[np.newaxis])


def to_hit(result: search_get_pb2.SearchResult, chunk_id: str, score: float) -> LegHit:
    """The hit of a result that brought `COLUMNS`; its chunk is read when it is asked for."""
    fields = result.properties.non_ref_props.fields
    document_id, revision = keyword_value(fields["document_id"].text_value), fields["revision"].int_value
    return LegHit(chunk_id, document_id, revision, score, partial(to_chunk, result))


def to_chunk(result: search_get_pb2.SearchResult) -> StoredChunk:
    """The chunk of a result that brought `COLUMNS`; with vectors when it brought those."""
    fields = result.properties.non_ref_props.fields
    return StoredChunk(
        chunk_id=fields["chunk_id"].text_value,
        document_id=keyword_value(fields["document_id"].text_value),
        revision=fields["revision"].int_value,
        ordinal=fields["ordinal"].int_value,
        title=keyword_value(fields["title"].text_value),
        uri=keyword_value(fields["uri"].text_value),
        locale=keyword_value(fields["locale"].text_value),
        date=fields["date"].text_value,
        heading_path=tuple(fields["heading_path"].list_value.text_values.values),
        pages=_integers(fields["pages"]),
        text=fields["text"].text_value,
        context=fields["context"].text_value,
        start=fields["start"].int_value,
        end=fields["end"].int_value,
        tokens=fields["tokens"].int_value,
        analysed=fields["analysed"].text_value,
        metadata=json.loads(fields["metadata"].text_value),
        vectors=_matrix(result.metadata.vectors),
    )


def compared_values(
    result: search_get_pb2.SearchResult, compared: Mapping[str, FieldType]
) -> dict[str, FieldValue | None]:
    """What filters on these fields compare of a result that brought their properties, None where it is missing."""
    fields = result.properties.non_ref_props.fields
    return {name: _compared(fields[property_of(name)], declared) for name, declared in compared.items()}


def _compared(value: properties_pb2.Value, declared: FieldType) -> FieldValue | None:
    if value.WhichOneof("kind") in (None, "null_value"):
        return None
    match declared:
        case FieldType.KEYWORD:
            return keyword_value(value.text_value)
        case FieldType.INTEGER:
            return int(value.int_value)
        case FieldType.NUMBER:
            return float(value.number_value)
        case FieldType.DATE:
            return value_of_date(value.int_value)
        case FieldType.BOOLEAN:
            return bool(value.bool_value)


def _to_object(chunk: IndexedChunk, class_name: str, generation: GenerationClass) -> batch_pb2.BatchObject:
    properties = batch_pb2.BatchObject.Properties(non_ref_properties=struct_pb2.Struct())
    properties.non_ref_properties.update(_plain_properties(chunk, generation.fields))
    if chunk.heading_path:
        properties.text_array_properties.add(prop_name="heading_path", values=chunk.heading_path)
    if chunk.pages:
        properties.int_array_properties.add(prop_name="pages", values=chunk.pages)
    return batch_pb2.BatchObject(
        uuid=object_id(chunk.chunk_id),
        collection=class_name,
        properties=properties,
        vectors=[multi_vector(_unit_rows(checked_vectors(chunk, generation.dimensions)))],
    )


def _plain_properties(chunk: IndexedChunk, fields: Mapping[str, FieldType]) -> dict[str, Any]:
    """What is stored as text, number or boolean; what is missing is left out, so that filters find it missing."""
    properties: dict[str, Any] = {
        name: getattr(chunk, name)
        for name in ("chunk_id", "revision", "ordinal", "text", "context", "start", "end", "tokens", "analysed")
    }
    properties["metadata"] = json.dumps(dict(chunk.metadata), ensure_ascii=False)
    properties["windows"] = len(chunk.vectors)
    properties["document_id"] = stored_keyword(chunk.document_id)
    for name in ("title", "uri", "locale"):
        if value := getattr(chunk, name):
            properties[name] = stored_keyword(value)
    if chunk.date:
        properties["date"] = chunk.date
    if day := start_of_period(chunk.date):
        properties["date_start"] = stored_date(day)
    for name, declared in fields.items():
        value = comparable_metadata(chunk, name, declared)
        if value is not None:
            properties[property_of(name)] = stored_value(value, declared)
    return properties


def _unit_rows(vectors: Matrix) -> Matrix:
    lengths = np.linalg.norm(vectors.astype(np.float64), axis=1, keepdims=True)
    return np.where(np.abs(lengths - 1) <= _EXACT_LENGTH, vectors, vectors / lengths).astype(np.float32)


def _matrix(vectors: Iterable[base_pb2.Vectors]) -> Matrix | None:
    for one in vectors:
        (dimensions,) = struct.unpack_from("<H", one.vector_bytes)
        return np.frombuffer(one.vector_bytes, "<f4", offset=2).reshape(-1, dimensions)
    return None


def _integers(value: properties_pb2.Value) -> tuple[int, ...]:
    return tuple(np.frombuffer(value.list_value.int_values.values, "<i8").tolist())
