"""Chunks as objects of Weaviate."""

import struct
from typing import Any

import numpy as np
import pytest
from weaviate.proto.v1 import base_pb2, batch_pb2, properties_pb2, search_get_pb2

from services.shared.index.chunk import IndexedChunk
from services.shared.index.fields import FieldType
from services.shared.index.weaviate_class import GenerationClass
from services.shared.index.weaviate_objects import (
    compared_values,
    multi_vector,
    object_id,
    query_vector,
    to_objects,
)
from services.shared.runtime.errors import InvalidInput

FIELDS = {
    "unit": FieldType.KEYWORD,
    "year": FieldType.INTEGER,
    "weight": FieldType.NUMBER,
    "published": FieldType.DATE,
    "reviewed": FieldType.BOOLEAN,
}
GENERATION = GenerationClass(2, FIELDS)


def a_chunk(**changes: Any) -> IndexedChunk:
    chunk: dict[str, Any] = {
        **{"chunk_id": "c1", "document_id": "d1", "revision": 1, "ordinal": 0, "title": "", "uri": "", "locale": ""},
        **{"date": "", "heading_path": (), "pages": (), "text": "t", "context": "", "start": 0, "end": 1, "tokens": 1},
        **{"analysed": "w:t", "metadata": {}, "vectors": np.array([[1, 0]], dtype=np.float32)},
    }
    return IndexedChunk(**{**chunk, **changes})


def an_object(**changes: Any) -> batch_pb2.BatchObject:
    [made] = to_objects([a_chunk(**changes)], "Generation_g1", GENERATION)
    return made


def stored_rows(one: batch_pb2.BatchObject) -> np.ndarray:
    return np.frombuffer(one.vectors[0].vector_bytes, "<f4", offset=2).reshape(-1, 2)


def test_same_chunk_id_is_the_same_object_and_another_is_another() -> None:
    ids = [object_id(chunk_id) for chunk_id in ("c1", "C1", "c1 ", "", "a\x00b")]
    assert ids == [object_id(chunk_id) for chunk_id in ("c1", "C1", "c1 ", "", "a\x00b")]
    assert len(set(ids)) == 5


def test_what_is_missing_is_left_out() -> None:
    plain = an_object(metadata={"unit": "", "published": ""}, date="last spring").properties.non_ref_properties
    assert set(plain) & {"title", "uri", "locale", "date_start", "m_unit", "m_published", "m_year"} == set()
    assert plain["date"] == "last spring"


def test_values_are_stored_in_the_form_in_which_they_are_compared() -> None:
    plain = an_object(
        locale="tr",
        date="2021-03",
        metadata={"unit": " 1", "year": 2**53, "weight": 0.5, "published": "2020", "reviewed": False},
    ).properties.non_ref_properties
    assert (plain["locale"], plain["document_id"], plain["m_unit"]) == ("=tr\x00", "=d1\x00", "= 1\x00")
    assert (plain["date"], plain["date_start"], plain["m_published"]) == ("2021-03", 20210301, 20200101)
    assert (plain["m_year"], plain["m_weight"], plain["m_reviewed"]) == (2**53, 0.5, False)


def test_undeclared_metadata_is_kept_and_not_compared() -> None:
    plain = an_object(metadata={"level": "A1"}).properties.non_ref_properties
    assert plain["metadata"] == '{"level": "A1"}'
    assert "m_level" not in plain


def test_unit_rows_are_stored_bit_for_bit() -> None:
    rows = np.array([[0.6, 0.8], [0.28, 0.96]], dtype=np.float32)
    np.testing.assert_array_equal(stored_rows(an_object(vectors=rows)), rows)


def test_rows_that_are_nearly_of_unit_length_are_stored_at_unit_length() -> None:
    rows = np.array([[0.6, 0.8], [1.005, 0]], dtype=np.float32)
    np.testing.assert_allclose(stored_rows(an_object(vectors=rows)), [[0.6, 0.8], [1, 0]], atol=1e-7)


def test_value_of_another_type_is_refused() -> None:
    with pytest.raises(InvalidInput) as refusal:
        an_object(metadata={"year": "2021"})
    assert refusal.value.field == "metadata.year"


def test_vector_to_search_with_is_brought_to_unit_length() -> None:
    packed = query_vector(np.array([3e-30, 4e-30], dtype=np.float32)).vector_bytes
    assert struct.unpack_from("<H", packed) == (2,)
    np.testing.assert_allclose(np.frombuffer(packed, "<f4", offset=2), [0.6, 0.8], rtol=1e-6)


def test_rows_are_packed_behind_their_number_of_dimensions() -> None:
    packed = multi_vector(np.array([[1, 2, 3], [4, 5, 6]], dtype=np.float32))
    assert packed.type == base_pb2.Vectors.VECTOR_TYPE_MULTI_FP32
    assert packed.vector_bytes == struct.pack("<H6f", 3, 1, 2, 3, 4, 5, 6)


def test_compared_values_are_those_of_the_properties_and_none_where_there_is_none() -> None:
    fields = {
        "m_unit": properties_pb2.Value(text_value="= 1\x00"),
        "m_year": properties_pb2.Value(int_value=2020),
        "m_weight": properties_pb2.Value(number_value=0.5),
        "m_published": properties_pb2.Value(int_value=20200101),
        "m_reviewed": properties_pb2.Value(null_value=0),  # type: ignore[arg-type]
    }
    result = search_get_pb2.SearchResult(
        properties=search_get_pb2.PropertiesResult(non_ref_props=properties_pb2.Properties(fields=fields))
    )
    assert compared_values(result, {**FIELDS, "title": FieldType.KEYWORD}) == {
        "unit": " 1",
        "year": 2020,
        "weight": 0.5,
        "published": "2020-01-01",
        "reviewed": None,
        "title": None,
    }
