"""The catalog fails: what is known goes on, marked; what needs it is refused."""

import sqlite3

import pytest

from tests.component.gateway.house import House, assert_problem

pytestmark = pytest.mark.asyncio(loop_scope="module")

SEARCH = {"collection": "papers", "query": "x"}
QUESTION = {"collection": "papers", "question": "x", "stream": False}


def break_catalog(house: House) -> None:
    """Make every read fail, in connections that are open too."""
    with sqlite3.connect(house.catalog_path) as connection:
        connection.execute("PRAGMA foreign_keys = OFF")
        for table in ("collections", "documents", "jobs"):
            connection.execute(f"ALTER TABLE {table} RENAME TO broken_{table}")


@pytest.fixture(autouse=True)
def always_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is fresh enough to be used without asking the catalog."""
    monkeypatch.setattr("services.gateway.known_collections.FRESH_S", 0.0)


async def test_a_known_collection_is_served_and_marked(own_house: House) -> None:
    await own_house.http.post("/v1/search", json=SEARCH)
    break_catalog(own_house)
    found = (await own_house.http.post("/v1/search", json=SEARCH)).json()
    assert found["degraded"] == ["catalog", "ranking"]
    assert (await own_house.http.post("/v1/answers", json=QUESTION)).json()["degraded"] == ["catalog"]
    assert own_house.telemetry.sample("plumbline_gateway_stale_collections_total") == 2


async def test_what_only_the_catalog_knows_is_503(own_house: House) -> None:
    break_catalog(own_house)
    for method, path in (
        ("GET", "/v1/collections"),
        ("GET", "/v1/collections/papers"),
        ("GET", "/v1/collections/papers/documents"),
        ("GET", "/v1/collections/papers/documents/a"),
        ("GET", "/v1/collections/papers/judgments"),
        ("GET", "/v1/jobs/a"),
    ):
        problem = assert_problem(await own_house.http.request(method, path), 503)
        assert problem["detail"] == "the catalog does not answer"
    judged = {"judgments": [{"id": "q", "query": "x", "relevance": {"a": 1}}]}
    assert_problem(await own_house.http.put("/v1/collections/papers/judgments", json=judged), 503)
    assert_problem(await own_house.http.post("/v1/search", json=SEARCH), 503)
    status = (await own_house.http.get("/v1/status")).json()
    assert (status["ready"], status["degraded"]) == (False, ["catalog"])
