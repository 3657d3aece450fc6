"""What callers get wrong in a search, through the gateway to the engine: a field by name, or a right answer."""

from typing import Any

import pytest

from tests.system.conftest import Stack

TEXTS = {
    "salt": "Salt keeps food from going bad.",
    "bread": "Bread rises in a warm oven.",
    "toil": "TOIL is the time off in lieu of overtime pay.",
}


@pytest.fixture(scope="module", params=["embedded", pytest.param("weaviate", marks=pytest.mark.weaviate)])
def pantry(request: pytest.FixtureRequest) -> Stack:
    """The stack on each engine, with three texts in it."""
    stack: Stack = request.getfixturevalue(f"{request.param}_stack")
    declared = {"name": "pantry", "profile": "docs", "locale": "en", "fields": {"year": "integer"}}
    assert stack.http.post("/v1/collections", json=declared).status_code == 201
    documents = [{"id": name, "text": text, "metadata": {"year": 2021}} for name, text in TEXTS.items()]
    assert stack.put("pantry", *documents)["state"] == "succeeded"
    return stack


def nested(depth: int, word: str) -> dict[str, Any]:
    condition: dict[str, Any] = {"field": "year", "op": "eq", "value": 2021}
    for _ in range(depth):
        condition = {word: condition if word == "not" else [condition]}
    return condition


def among(count: int) -> dict[str, Any]:
    return {"field": "year", "op": "in", "value": list(range(2021, 2021 + count))}


@pytest.mark.parametrize(
    ("body", "status", "field"),
    [
        ({"query": None, "mode": "keyword"}, 400, "query"),
        ({"query": "", "mode": "keyword"}, 400, "query"),
        ({"query": " \n", "mode": "vector"}, 400, "query"),
        ({"limit": 0}, 400, "limit"),
        ({"limit": 10_001}, 400, "limit"),
        ({"offset": 101}, 400, "offset"),
        ({"offset": 1_000_000}, 400, "offset"),
        ({"filter": nested(50, "all")}, 400, "filter" + ".all[0]" * 16),
        ({"filter": nested(50, "not")}, 400, "filter" + ".not" * 16),
        ({"filter": among(5_000)}, 400, "filter.value"),
        ({"filter": {"field": "yaer", "op": "eq", "value": 1}}, 400, "filter.field"),
        ({"filter": {"field": "year", "op": "eq", "value": "now"}}, 400, "filter.value"),
        ({"cursor": "AAAA"}, 400, "cursor"),
        ({"cursor": "not base64 !"}, 400, "cursor"),
        ({"generation_id": "unknown"}, 400, "generation_id"),
        ({"retrieval": {"depth": 1_001}}, 400, "retrieval.depth"),
        ({"retrieval": {"rrf_k": 0}}, 400, "retrieval.rrf_k"),
        ({"retrieval": {"keyword_weight": -1}}, 400, "retrieval.keyword_weight"),
        ({"collection": "unknown"}, 404, "collection"),
        ({"query": None, "like": "unknown"}, 404, "like"),
    ],
)
def test_it_is_refused_by_its_field(pantry: Stack, body: dict[str, Any], status: int, field: str) -> None:
    response = pantry.http.post("/v1/search", json={"collection": "pantry", "query": "salt", **body})
    assert (response.status_code, response.json()["field"]) == (status, field)


def test_a_cursor_of_another_query_is_refused(pantry: Stack) -> None:
    cursor = pantry.search("pantry", "salt", limit=1)["next"]
    asked = {"collection": "pantry", "query": "bread", "limit": 1, "cursor": cursor}
    response = pantry.http.post("/v1/search", json=asked)
    assert (response.status_code, response.json()["field"]) == (400, "cursor")


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("???", []),
        ('"', []),
        ("* - ^ ~ && ||", []),
        ("the of", ["toil"]),
        ("salt " + "unknown " * 99, ["salt"]),
        ('salt AND "bad', ["salt"]),
        ("title:(salt) -oven", ["bread", "salt"]),
        ("sal*", []),
    ],
)
def test_it_finds_what_its_words_say(pantry: Stack, query: str, found: list[str]) -> None:
    hits = pantry.search("pantry", query, mode="keyword")["hits"]
    assert sorted(hit["document_id"] for hit in hits) == found


@pytest.mark.parametrize("query", ["???", "the of and", "word " * 100])
def test_hybrid_answers_what_has_no_words_of_its_own(pantry: Stack, query: str) -> None:
    assert pantry.search("pantry", query)["degraded"] == []


def test_a_page_beyond_what_was_found_is_empty(pantry: Stack) -> None:
    page = pantry.search("pantry", "salt", offset=50)
    assert (page["hits"], page["window"]) == ([], 3)


def test_a_thousand_values_of_one_field_are_answered(pantry: Stack) -> None:
    assert len(pantry.search("pantry", "salt", filter=among(1_000))["hits"]) == 3
