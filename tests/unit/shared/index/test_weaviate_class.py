"""Generations as classes of Weaviate."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.shared.index.fields import FieldType
from services.shared.index.weaviate_class import (
    GenerationClass,
    class_name,
    declared_property,
    definition_of,
    generation_class,
    generation_of,
    is_generation_id,
)

FIELDS = {
    "unit": FieldType.KEYWORD,
    "year": FieldType.INTEGER,
    "weight": FieldType.NUMBER,
    "published": FieldType.DATE,
    "reviewed": FieldType.BOOLEAN,
}


def definition(**changes: Any) -> dict[str, Any]:
    return definition_of("g1", 768, FIELDS, **{"replication_factor": 1, "ef": 128, **changes})


def properties() -> dict[str, dict[str, Any]]:
    return {described["name"]: described for described in definition()["properties"]}


@given(st.from_regex(r"[A-Za-z0-9_.-]{1,64}", fullmatch=True))
def test_generation_is_read_back_from_the_name_of_its_class(generation_id: str) -> None:
    assert generation_of(class_name(generation_id)) == generation_id


@given(st.from_regex(r"[A-Za-z0-9_.-]{1,8}", fullmatch=True), st.from_regex(r"[A-Za-z0-9_.-]{1,8}", fullmatch=True))
def test_ids_that_differ_have_classes_that_differ_in_more_than_case(one: str, other: str) -> None:
    assert (one == other) == (class_name(one).lower() == class_name(other).lower())


def test_name_of_a_class_is_one_that_weaviate_takes() -> None:
    assert class_name("2b1e-A_1.x") == "Generation_2b1e_2d_41_5f1_2ex"


@pytest.mark.parametrize("name", ["Article", "Generation_", "Generation_A", "Generation_a_", "Generation__c3_a9"])
def test_class_of_others_is_no_generation(name: str) -> None:
    assert generation_of(name) is None


@pytest.mark.parametrize("generation_id", ["", "a b", "a/b", "../x", "é", "x" * 65, "a\n"])
def test_other_words_are_no_ids(generation_id: str) -> None:
    assert not is_generation_id(generation_id)


def test_dimensions_and_fields_are_read_back_from_the_definition() -> None:
    assert generation_class(definition()) == GenerationClass(768, FIELDS)


def test_every_property_says_for_each_index_whether_it_has_it() -> None:
    for described in properties().values():
        assert "indexFilterable" in described, described["name"]
        if described["dataType"][0].startswith("text"):
            assert "indexSearchable" in described, described["name"]
        if described["indexFilterable"] and described["dataType"][0] in ("int", "number"):
            assert described["indexRangeFilters"], described["name"]


def test_keywords_are_compared_whole_and_only_the_analysed_text_is_searched() -> None:
    searched = [name for name, described in properties().items() if described.get("indexSearchable")]
    assert searched == ["analysed"]
    assert properties()["analysed"]["tokenization"] == "whitespace"
    filtered = {
        name: described["tokenization"]
        for name, described in properties().items()
        if described["dataType"] == ["text"] and described["indexFilterable"]
    }
    assert filtered == dict.fromkeys(["document_id", "title", "uri", "locale", "m_unit"], "field")


def test_settings_that_search_depends_on_are_named() -> None:
    made = definition(ef=64)
    [space] = made["vectorConfig"].values()
    hnsw = space["vectorIndexConfig"]
    assert (hnsw["efConstruction"], hnsw["maxConnections"], hnsw["ef"], hnsw["distance"]) == (256, 64, 64, "cosine")
    assert [hnsw[kind]["enabled"] for kind in ("pq", "bq", "sq", "rq")] == [False] * 4
    assert hnsw["multivector"] == {"enabled": True, "aggregation": "maxSim", "muvera": {"enabled": False}}
    inverted = made["invertedIndexConfig"]
    assert inverted["bm25"] == {"k1": 1.2, "b": 0.75}
    assert inverted["stopwords"] == {"preset": "none"}
    assert inverted["indexNullState"] is True
    assert made["shardingConfig"]["desiredCount"] == 1


@pytest.mark.parametrize(("factor", "asynchronous"), [(1, False), (3, True)])
def test_replicas_are_brought_together_where_there_are_several(factor: int, asynchronous: bool) -> None:
    replication = definition(replication_factor=factor)["replicationConfig"]
    assert replication == {
        "factor": factor,
        "asyncEnabled": asynchronous,
        "deletionStrategy": "TimeBasedResolution",
    }


def test_field_declared_later_gets_the_property_it_would_have_had() -> None:
    assert declared_property("published", FieldType.DATE) == properties()["m_published"]
