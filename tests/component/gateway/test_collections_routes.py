"""`/v1/collections`: written through ingest, read from the catalog."""

from typing import Any

import pytest

from plumbline.ingest.v1 import ingest_pb2
from plumbline.search.v1 import search_pb2
from services.shared.runtime.errors import AlreadyExists, InvalidInput
from tests.component.gateway.house import House, assert_problem

pytestmark = pytest.mark.asyncio(loop_scope="module")

DECLARATION: dict[str, Any] = {
    "name": "notes",
    "profile": "docs",
    "locale": "tr",
    "fields": {"level": "keyword"},
    "settings": {"retrieval": {"depth": 50}},
}


def creates(house: House) -> None:
    async def on_create(collection: ingest_pb2.Collection) -> None:
        await house.declare(
            collection.name, profile="docs", locale="tr", fields={"level": "keyword"}, settings=DECLARATION["settings"]
        )

    house.ingest.on_create = on_create


async def test_a_new_collection_is_201_and_shown_as_stored(house: House) -> None:
    creates(house)
    response = await house.http.post("/v1/collections", json=DECLARATION)
    assert response.status_code == 201
    assert response.json() == {
        **DECLARATION,
        "generation": {
            "id": "g-notes",
            "revision": 0,
            "documents": 0,
            "chunks": 0,
            "lag": 0,
            "optimized": True,
            "embedding_model": "all-MiniLM-L6-v2",
        },
        "created_at": "2023-11-14T22:13:20+00:00",
    }
    (sent,) = house.ingest.script.requests
    assert sent.collection.fields == {"level": search_pb2.FIELD_TYPE_KEYWORD}
    assert sent.collection.settings_json == '{"retrieval": {"depth": 50}}'


async def test_a_new_collection_that_is_deleted_at_once_was_made_nevertheless(house: House) -> None:
    response = await house.http.post("/v1/collections", json={**DECLARATION, "name": "gone"})
    assert response.status_code == 201
    empty = {"id": "g-gone", "revision": 0, "documents": 0, "chunks": 0, "lag": 0, "optimized": True}
    assert response.json() == {**DECLARATION, "name": "gone", "generation": empty}


async def test_an_old_collection_that_is_deleted_meanwhile_is_not_there(house: House) -> None:
    house.ingest.created = False
    response = await house.http.post("/v1/collections", json={**DECLARATION, "name": "gone"})
    assert_problem(response, 404, field="collection")


async def test_the_same_declaration_again_is_200(house: House) -> None:
    creates(house)
    house.ingest.created = False
    assert (await house.http.post("/v1/collections", json=DECLARATION)).status_code == 200


async def test_another_declaration_under_a_name_in_use_is_409(house: House) -> None:
    house.ingest.script.error = AlreadyExists("collection 'notes' exists with other fields", field="fields")
    assert_problem(await house.http.post("/v1/collections", json=DECLARATION), 409, field="fields")


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"name": 5}, "name"),
        ({"fields": {"level": "text"}}, "fields.level"),
        ({"fields": {"title": "keyword"}}, "fields.title"),
        ({"fields": {"level": 1}}, "fields.level"),
        ({"settings": []}, "settings"),
        ({"profil": "docs"}, "profil"),
    ],
)
async def test_a_declaration_names_its_field_at_fault(house: House, change: dict[str, Any], field: str) -> None:
    assert_problem(await house.http.post("/v1/collections", json={**DECLARATION, **change}), 400, field=field)
    assert house.ingest.script.requests == []


async def test_what_ingest_refuses_names_the_setting(house: House) -> None:
    house.ingest.script.error = InvalidInput("at most 1000", field="settings.retrieval.depth")
    response = await house.http.post("/v1/collections", json=DECLARATION)
    assert_problem(response, 400, field="settings.retrieval.depth")


async def test_collections_are_listed_by_name(house: House) -> None:
    await house.declare("abc")
    listed = (await house.http.get("/v1/collections")).json()["collections"]
    names = [collection["name"] for collection in listed]
    assert names == sorted(names)
    assert {"abc", "papers"} <= set(names)


async def test_one_collection_is_shown_and_an_unknown_one_is_404(house: House) -> None:
    shown = (await house.http.get("/v1/collections/papers")).json()
    assert (shown["profile"], shown["fields"]) == ("paper", {"department": "keyword", "year": "integer"})
    assert_problem(await house.http.get("/v1/collections/none"), 404, field="collection")


async def test_new_settings_are_sent_whole(house: House) -> None:
    response = await house.http.patch("/v1/collections/papers", json={"settings": {"ranking": {"mmr": False}}})
    assert response.status_code == 200
    assert house.ingest.script.requests == [
        ingest_pb2.UpdateCollectionRequest(name="papers", settings_json='{"ranking": {"mmr": false}}')
    ]


async def test_changed_settings_hold_for_the_very_next_search(house: House) -> None:
    await house.declare("swift")
    search = {"collection": "swift", "query": "x"}
    await house.http.post("/v1/search", json=search)
    await house.catalog.collections.replace_settings("swift", {"retrieval": {"depth": 7}})
    await house.http.patch("/v1/collections/swift", json={"settings": {"retrieval": {"depth": 7}}})
    await house.http.post("/v1/search", json=search)
    assert [sent.retrieval.depth for sent in house.search.script.requests] == [100, 7]


async def test_a_deleted_collection_is_204_and_not_known_any_more(house: House) -> None:
    await house.declare("gone")
    await house.http.post("/v1/search", json={"collection": "gone", "query": "x"})
    await house.catalog.collections.delete("gone", now=0)
    response = await house.http.delete("/v1/collections/gone")
    assert (response.status_code, response.content) == (204, b"")
    again = await house.http.post("/v1/search", json={"collection": "gone", "query": "x"})
    assert_problem(again, 404, field="collection")
