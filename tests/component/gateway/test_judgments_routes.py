"""`/v1/collections/{c}/judgments`: what is kept, what replaces what, pages, and judgments that say nothing."""

from typing import Any

import pytest

from tests.component.gateway.house import House, assert_problem

pytestmark = pytest.mark.asyncio(loop_scope="module")

JUDGMENTS = "/v1/collections/papers/judgments"
FILTER = {"all": [{"field": "department", "op": "eq", "value": "physics"}, {"not": {"field": "year", "op": "exists"}}]}
JUDGED = {"id": "q/1 明月", "query": "çay?", "locale": "tr", "filter": FILTER, "relevance": {"a/b": 3, "c": 0}}
BARE = {"id": "q2", "query": "tea", "relevance": {"d": 1}}


async def put(house: House, *judged: dict[str, Any]) -> Any:
    return await house.http.put(JUDGMENTS, json={"judgments": list(judged)})


async def test_judgments_come_back_as_they_were_put(own_house: House) -> None:
    response = await put(own_house, BARE, JUDGED)
    assert (response.status_code, response.content) == (204, b"")
    assert (await own_house.http.get(JUDGMENTS)).json() == {
        "judgments": [JUDGED, BARE | {"locale": None, "filter": None}],
        "next": None,
    }


async def test_a_judgment_replaces_the_one_with_its_id(own_house: House) -> None:
    await put(own_house, BARE, JUDGED)
    await put(own_house, BARE | {"relevance": {"e": 2}})
    listed = (await own_house.http.get(JUDGMENTS)).json()["judgments"]
    assert [(one["id"], one["relevance"]) for one in listed] == [(JUDGED["id"], JUDGED["relevance"]), ("q2", {"e": 2})]


async def test_pages_follow_each_other_without_gap_or_overlap(own_house: House) -> None:
    ids = [f"q{number}" for number in range(7)]
    await put(own_house, *(BARE | {"id": one} for one in ids))
    seen: list[str] = []
    cursor: str | None = ""
    while cursor is not None:
        page = (
            await own_house.http.get(JUDGMENTS, params={"limit": 3} | ({"cursor": cursor} if cursor else {}))
        ).json()
        seen += [judgment["id"] for judgment in page["judgments"]]
        cursor = page["next"]
    assert seen == ids


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"id": ""}, "id"),
        ({"query": " "}, "query"),
        ({"locale": "not a locale"}, "locale"),
        ({"relevance": {}}, "relevance"),
        ({"relevance": {"a": 0, "b": 0}}, "relevance"),
        ({"relevance": {"a": 4}}, "relevance.a"),
        ({"relevance": {"a": -1}}, "relevance.a"),
        ({"relevance": {"a": 1.5}}, "relevance.a"),
        ({"relevance": {"a": True}}, "relevance.a"),
        ({"relevant": ["a"]}, "relevant"),
        ({"filter": {"field": "colour", "op": "eq", "value": "red"}}, "filter.field"),
        ({"filter": {"all": [{"field": "year", "op": "eq", "value": "old"}]}}, "filter.all[0].value"),
        ({"filter": {"some": []}}, "filter.some"),
    ],
)
async def test_a_judgment_that_could_not_be_measured_is_refused_by_name(
    house: House, change: dict[str, Any], field: str
) -> None:
    assert_problem(await put(house, BARE | {"id": "good"}, BARE | change), 400, field=f"judgments[1].{field}")
    listed = (await house.http.get(JUDGMENTS)).json()["judgments"]
    assert listed == []


async def test_one_id_twice_is_refused(house: House) -> None:
    problem = assert_problem(await put(house, BARE, BARE | {"query": "else"}), 400, field="judgments[1].id")
    assert problem["detail"] == "judgments[0] has the same id"


@pytest.mark.parametrize("body", [{}, {"judgments": []}, {"judgments": [BARE] * 1001}])
async def test_a_put_holds_from_1_to_1000_judgments(house: House, body: dict[str, Any]) -> None:
    assert_problem(await house.http.put(JUDGMENTS, json=body), 400, field="judgments")


async def test_an_unknown_collection_is_404(house: House) -> None:
    elsewhere = "/v1/collections/none/judgments"
    assert_problem(await house.http.put(elsewhere, json={"judgments": [BARE]}), 404, field="collection")
    assert_problem(await house.http.get(elsewhere), 404, field="collection")


@pytest.mark.parametrize(("query", "field"), [("limit=0", "limit"), ("limit=1001", "limit"), ("cursor=%25", "cursor")])
async def test_a_list_names_the_parameter_at_fault(house: House, query: str, field: str) -> None:
    assert_problem(await house.http.get(f"{JUDGMENTS}?{query}"), 400, field=field)


async def test_judgments_need_no_ingest(own_house: House) -> None:
    await own_house.stop("ingest")
    assert (await put(own_house, BARE)).status_code == 204
    assert len((await own_house.http.get(JUDGMENTS)).json()["judgments"]) == 1
