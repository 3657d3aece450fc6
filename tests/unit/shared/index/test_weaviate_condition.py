"""A filter on its way to Weaviate and back."""

import pytest
from weaviate.proto.v1 import properties_pb2, search_get_pb2

from services.shared.index.fields import FieldType
from services.shared.index.filters import AllOf, AnyOf, Comparison, Filter, Op
from services.shared.index.weaviate_condition import Condition
from services.shared.index.weaviate_requests import Copy

FIELDS = {"unit": FieldType.KEYWORD, "year": FieldType.INTEGER}
UNIT = Comparison("unit", Op.EQ, ("1-1",))


def copy(chunk_id: str, unit: str) -> Copy:
    fields = {
        "chunk_id": properties_pb2.Value(text_value=chunk_id),
        "m_unit": properties_pb2.Value(text_value=f"={unit}\x00"),
        "metadata": properties_pb2.Value(text_value="{}"),
    }
    result = search_get_pb2.SearchResult(
        properties=search_get_pb2.PropertiesResult(non_ref_props=properties_pb2.Properties(fields=fields))
    )
    return Copy(chunk_id, 1.0, 1, result)


def test_hit_that_no_longer_meets_the_filter_is_left_out() -> None:
    hits = Condition.of(UNIT, FIELDS).hits([copy("stays", "1-1"), copy("moved", "1-12")])
    assert [hit.chunk.chunk_id for hit in hits] == ["stays"]


def test_without_a_filter_every_hit_stays() -> None:
    condition = Condition.of(None, FIELDS)
    assert len(condition.hits([copy("a", "1-1"), copy("b", "1-12")])) == 2
    assert (condition.filters, condition.is_never, condition.properties) == (None, False, [])


def test_search_brings_the_properties_that_the_filter_compares() -> None:
    filter = AnyOf((UNIT, Comparison("date", Op.EXISTS), Comparison("unknown", Op.EXISTS)))
    assert Condition.of(filter, FIELDS).properties == ["date_start", "m_unit"]


@pytest.mark.parametrize(("filter", "never"), [(AllOf(()), False), (AnyOf(()), True)])
def test_filter_of_no_field_is_met_by_all_or_by_none(filter: Filter, never: bool) -> None:
    condition = Condition.of(filter, FIELDS)
    assert (condition.filters, condition.is_never) == (None, never)
