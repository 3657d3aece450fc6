"""`POST /v1/search` over a scripted search service."""

import httpx
import pytest

from plumbline.ranking.v1 import ranking_pb2
from plumbline.search.v1 import filter_pb2, search_pb2
from services.shared.runtime.errors import (
    DeadlineExceeded,
    DependencyUnavailable,
    Internal,
    InvalidInput,
    NotFound,
    Overloaded,
)
from tests.component.gateway.house import PAGE, House, assert_problem

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def search(house: House, **body: object) -> httpx.Response:
    return await house.http.post("/v1/search", json={"collection": "papers", "query": "solar cells", **body})


async def test_a_page_has_the_shape_that_clients_rely_on(house: House) -> None:
    response = await search(house)
    assert response.status_code == 200
    assert response.json() == {
        "request_id": response.headers["x-request-id"],
        "generation": {"id": "g1", "revision": 7},
        "degraded": ["ranking"],
        "next": "cursor-2",
        "hits": [
            {
                "rank": 1,
                "score": 0.9,
                "chunk_id": "c1",
                "document_id": "d1",
                "title": "Solar cells",
                "uri": "https://example.org/d1",
                "heading_path": ["Methods", "Cells"],
                "pages": [3, 4],
                "text": "Perovskite cells …",
                "metadata": {"department": "physics", "year": 2021},
                "locale": "en",
                "date": "2021-03",
            }
        ],
        "window": 12,
        "timings_ms": {"embed": 1, "keyword": 2, "vector": 3, "fuse": 4, "rank": 5, "total": 6},
    }


async def test_the_collection_s_settings_go_down_with_the_call(house: House) -> None:
    await house.declare("course", profile="lesson", locale="tr", fields={"unit": "integer"})
    await search(house, collection="course")
    (sent,) = house.search.script.requests
    assert (sent.collection, sent.query, sent.limit, sent.mode) == (
        "course",
        "solar cells",
        10,
        search_pb2.MODE_HYBRID,
    )
    assert sent.retrieval.locale == "tr"
    assert dict(sent.retrieval.fields) == {"unit": search_pb2.FIELD_TYPE_INTEGER}
    assert (sent.retrieval.rrf_k, sent.retrieval.depth, sent.retrieval.window) == (60, 100, 100)
    assert not sent.retrieval.collapse_by_document
    assert sent.ranking.relevance == ranking_pb2.RELEVANCE_COMPLETED
    assert [tier.multiplier for tier in sent.ranking.recency_tiers] == [1.2, 1.0, 0.9]
    assert not sent.ranking.recency_tiers[-1].HasField("up_to_years")


async def test_a_paper_collection_is_spread_over_its_departments(house: House) -> None:
    await search(house)
    (sent,) = house.search.script.requests
    assert (sent.ranking.mmr, sent.ranking.diversify_by, sent.ranking.min_distinct) == (True, "department", 3)
    assert sent.retrieval.collapse_by_document


async def test_a_request_overrides_how_its_hits_are_ranked(house: House) -> None:
    await search(
        house,
        ranking={
            "lambda": 0.25,
            "min_distinct": 5,
            "recency": False,
            "clock_date": "2026-01-31",
            "cross_encoder": True,
            "mmr_relevance_power": 3.0,
            "cross_encoder_budget_ms": 40,
        },
        retrieval={"rrf_k": 10, "keyword_weight": 0, "depth": 20, "keyword_gate": 0.3},
    )
    (sent,) = house.search.script.requests
    assert (sent.ranking.mmr_lambda, sent.ranking.mmr_relevance_power, sent.ranking.min_distinct) == (0.25, 3, 5)
    assert not sent.ranking.recency_tiers
    assert (sent.ranking.cross_encoder, sent.ranking.cross_encoder_budget_ms) == (True, 40)
    assert sent.ranking.clock_date == "2026-01-31"
    assert (sent.retrieval.rrf_k, sent.retrieval.keyword_weight, sent.retrieval.depth) == (10, 0, 20)
    assert sent.retrieval.keyword_gate == 0.3


async def test_everything_else_that_a_request_says_reaches_search(house: House) -> None:
    response = await house.http.post(
        "/v1/search",
        json={
            "collection": "papers",
            "like": "d 1/ä",
            "locale": "tr",
            "mode": "keyword",
            "limit": 5,
            "offset": 10,
            "explain": True,
            "filter": {
                "all": [{"field": "year", "op": "gte", "value": 2020}, {"not": {"field": "id", "op": "exists"}}]
            },
        },
    )
    assert response.status_code == 200
    (sent,) = house.search.script.requests
    assert (sent.like_document_id, sent.query, sent.locale) == ("d 1/ä", "", "tr")
    assert (sent.mode, sent.limit, sent.offset, sent.explain) == (search_pb2.MODE_KEYWORD, 5, 10, True)
    year, absent = sent.filter.all.filters
    assert year.comparison == filter_pb2.Comparison(
        field="year", op=filter_pb2.OPERATOR_GTE, values=[filter_pb2.Value(integer=2020)]
    )
    assert getattr(absent, "not").comparison.op == filter_pb2.OPERATOR_EXISTS


async def test_the_next_page_carries_its_cursor(house: House) -> None:
    await search(house, cursor="cursor-2")
    assert house.search.script.requests[0].cursor == "cursor-2"


async def test_the_ledger_tells_which_leg_did_not_find_a_hit(house: House) -> None:
    page = search_pb2.SearchResponse()
    page.CopyFrom(PAGE)
    page.hits[0].ledger.CopyFrom(
        ranking_pb2.Ledger(
            keyword=ranking_pb2.LegRank(rank=2, score=7.5, fused_share=0.016),
            vector=ranking_pb2.LegRank(score=0.3, completed=True),
            relevance_kind=ranking_pb2.RELEVANCE_COMPLETED,
            multiplier=1.2,
            places=[ranking_pb2.Place(step="fused", place=1)],
        )
    )
    page.hits[0].also.append(search_pb2.AlsoChunk(chunk_id="c9", fused_place=4))
    house.search.page = page
    (hit,) = (await search(house, explain=True)).json()["hits"]
    assert hit["ledger"]["keyword"] == {"rank": 2, "score": 7.5, "completed": False, "fused_share": 0.016}
    assert hit["ledger"]["vector"] == {"rank": None, "score": 0.3, "completed": True, "fused_share": 0.0}
    assert hit["ledger"]["relevance_kind"] == "completed"
    assert hit["ledger"]["age_years"] is None
    assert hit["ledger"]["places"] == [{"step": "fused", "place": 1}]
    assert hit["also"] == [{"chunk_id": "c9", "heading_path": [], "fused_place": 4}]


async def test_the_ledger_tells_what_the_cross_encoder_gave(house: House) -> None:
    page = search_pb2.SearchResponse()
    page.CopyFrom(PAGE)
    page.hits[0].ledger.CopyFrom(
        ranking_pb2.Ledger(relevance_kind=ranking_pb2.RELEVANCE_CROSS_ENCODER, cross_encoder_score=-1.5)
    )
    house.search.page = page
    (hit,) = (await search(house, explain=True)).json()["hits"]
    assert (hit["ledger"]["relevance_kind"], hit["ledger"]["cross_encoder_score"]) == ("cross_encoder", -1.5)


async def test_the_fault_that_search_names_reaches_the_caller(house: House) -> None:
    house.search.script.error = InvalidInput("There is no field 'yaer'.", field="filter.field")
    problem = assert_problem(await search(house), 400, field="filter.field")
    assert problem["detail"] == "There is no field 'yaer'."


async def test_an_unknown_like_is_named_as_the_caller_wrote_it(house: House) -> None:
    house.search.script.error = NotFound("there is no document 'x'", field="like_document_id")
    assert_problem(await search(house, query=None, like="x"), 404, field="like")


async def test_search_that_is_away_is_503_with_the_time_to_wait(own_house: House) -> None:
    await own_house.stop("search")
    response = await search(own_house)
    problem = assert_problem(response, 503)
    assert problem["detail"] == "search does not answer"
    assert int(response.headers["retry-after"]) >= 1


async def test_a_failed_index_is_503_with_its_own_time_to_wait(house: House) -> None:
    house.search.script.error = DependencyUnavailable("both legs failed", retry_after_s=4.2)
    response = await search(house)
    assert assert_problem(response, 503)["retry_after_s"] == 4.2
    assert response.headers["retry-after"] == "5"


async def test_over_capacity_is_429_at_once(house: House) -> None:
    house.search.script.error = Overloaded("256 calls are being served already; try again", retry_after_s=0.25)
    response = await search(house)
    assert_problem(response, 429)
    assert response.headers["retry-after"] == "1"
    assert len(house.search.script.requests) == 1


async def test_out_of_time_is_504(house: House) -> None:
    house.search.script.error = DeadlineExceeded("out of time")
    assert_problem(await search(house), 504)


async def test_a_fault_inside_is_500_and_says_nothing_but_the_request_id(house: House) -> None:
    house.search.script.error = Internal("secret table names")
    assert "secret" not in str(assert_problem(await search(house), 500))
