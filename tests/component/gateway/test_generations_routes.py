"""`/v1/collections/{c}/generations`: shown from the catalog, changed through ingest."""

import pytest

from services.shared.runtime.errors import Conflict
from tests.component.gateway.house import House, assert_problem

pytestmark = pytest.mark.asyncio(loop_scope="module")
PATH = "/v1/collections/notes/generations"


async def test_generations_are_listed_with_what_they_were_built_with(house: House) -> None:
    await house.declare("notes", profile="docs", locale="en")

    response = await house.http.get(PATH)

    assert response.status_code == 200
    (only,) = response.json()["generations"]
    assert (only["id"], only["state"], only["previous"], only["lag"]) == ("g-notes", "active", False, 0)
    assert (only["embedding_model"], only["documents"]) == ("all-MiniLM-L6-v2", 0)
    assert_problem(await house.http.get("/v1/collections/nothing/generations"), 404, field="collection")


async def test_build_begins_with_what_the_body_says(house: House) -> None:
    response = await house.http.post(PATH, json={"profile": "plain"})

    assert (response.status_code, response.json()) == (202, {"generation_id": "g2", "job_id": "j4"})
    asked = house.ingest.script.requests[-1]
    assert (asked.collection, asked.model, asked.profile) == ("notes", "", "plain")


async def test_promotion_shows_the_gate(house: House) -> None:
    response = await house.http.post(f"{PATH}/g2/promote", json={"max_ndcg_loss": 0.02})

    assert response.json() == {
        "generation_id": "g2",
        "gate": {"queries": 2, "serving_ndcg10": 0.5, "candidate_ndcg10": 0.75},
    }
    assert house.ingest.script.requests[-1].max_ndcg_loss == 0.02


async def test_loss_above_1_is_refused_here(house: House) -> None:
    assert_problem(await house.http.post(f"{PATH}/g2/promote", json={"max_ndcg_loss": 1.5}), 400, field="max_ndcg_loss")


async def test_gate_that_fails_is_409_with_the_figures(house: House) -> None:
    house.ingest.script.error = Conflict("nDCG@10 over 2 judged queries falls from 0.9 to 0.5")

    response = await house.http.post(f"{PATH}/g2/promote", json={})

    assert response.status_code == 409
    assert "falls from 0.9 to 0.5" in response.json()["detail"]


async def test_rollback_needs_no_body(house: House) -> None:
    response = await house.http.post(f"{PATH}/rollback")

    assert (response.status_code, response.json()) == (200, {"generation_id": "g1"})
