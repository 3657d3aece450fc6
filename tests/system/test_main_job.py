"""The main job over all six services: ingest, search, answer with citations, refuse, change, delete."""

import pytest

from tests.system.conftest import Stack

REFUSAL = "The provided document does not contain enough information to answer this question."
LEAVE = {
    "id": "leave",
    "title": "Leave",
    "markdown": "# Leave\n\n## Annual leave\n\nEvery employee has 25 days of annual leave.\n\n"
    "## Parental leave\n\nParental leave lasts 14 weeks and is paid in full.\n",
    "metadata": {"area": "people", "year": 2024},
}
TRAVEL = {
    "id": "travel",
    "title": "Travel",
    "text": "Trains are booked in second class. A hotel may cost 120 euros a night.",
    "metadata": {"area": "money", "year": 2023},
}
OFFICE = {"id": "office", "title": "Office", "html": "<h1>Office</h1><p>The office opens at 7 and closes at 20.</p>"}


@pytest.fixture(scope="module", params=["embedded", pytest.param("weaviate", marks=pytest.mark.weaviate)])
def stack(request: pytest.FixtureRequest) -> Stack:
    """The stack on each engine."""
    running: Stack = request.getfixturevalue(f"{request.param}_stack")
    return running


@pytest.fixture(scope="module")
def handbook(stack: Stack) -> Stack:
    declared = {"name": "handbook", "profile": "docs", "locale": "en", "fields": {"area": "keyword", "year": "integer"}}
    created = stack.http.post("/v1/collections", json=declared)
    assert created.status_code == 201, created.text
    job = stack.put("handbook", LEAVE, TRAVEL, OFFICE)
    assert (job["state"], job["total"], job["done"]) == ("succeeded", 3, 3)
    assert job["outcomes"] == {"reused": 0, "embedded": 3, "deleted": 0, "failed": 0}
    return stack


def test_the_best_hit_is_about_the_query_and_names_its_generation(handbook: Stack) -> None:
    page = handbook.search("handbook", "how long is parental leave", explain=True)
    best = page["hits"][0]
    assert (best["rank"], best["document_id"], best["heading_path"]) == (1, "leave", ["Leave", "Parental leave"])
    assert "14 weeks" in best["text"]
    assert page["generation"]["revision"] == 3
    assert page["degraded"] == []
    assert best["ledger"]["keyword"]["rank"] == 1
    assert set(page["timings_ms"]) == {"embed", "keyword", "vector", "fuse", "rank", "total"}


@pytest.mark.parametrize("mode", ["hybrid", "keyword", "vector"])
def test_a_filter_holds_in_every_mode(handbook: Stack, mode: str) -> None:
    condition = {
        "all": [{"field": "year", "op": "gte", "value": 2024}, {"not": {"field": "area", "op": "eq", "value": "x"}}]
    }
    hits = handbook.search("handbook", "leave, hotel, office", mode=mode, filter=condition)["hits"]
    assert {hit["document_id"] for hit in hits} == {"leave"}


def test_pages_of_one_window_neither_overlap_nor_skip(handbook: Stack) -> None:
    whole = [hit["chunk_id"] for hit in handbook.search("handbook", "leave")["hits"]]
    paged, page = [], handbook.search("handbook", "leave", limit=1)
    while page["hits"]:
        paged += [hit["chunk_id"] for hit in page["hits"]]
        if not page.get("next"):
            break
        page = handbook.search("handbook", "leave", limit=1, cursor=page["next"])
    assert paged == whole


def test_an_answer_streams_its_sources_first_and_cites_them(handbook: Stack) -> None:
    events = handbook.events("handbook", "How many weeks does parental leave last?")
    names = [name for name, _ in events]
    assert (names[0], names[-1]) == ("sources", "done")
    assert {"delta", "citation"} <= set(names)
    sources = {source["number"]: source for source in events[0][1]["sources"]}
    text = "".join(data["text"] for name, data in events if name == "delta")
    citation = next(data for name, data in events if name == "citation")
    assert "14 weeks" in sources[citation["source"]]["text"]
    assert f"[Source {citation['source']}]" in text
    assert "14 weeks" in text[citation["start"] : citation["end"]]
    done = events[-1][1]
    assert (done["generator"], done["finish_reason"], done["calibration"]) == ("extractive", "stop", "uncalibrated")


def test_a_question_outside_the_documents_gets_exactly_the_refusal_sentence(handbook: Stack) -> None:
    question = {"collection": "handbook", "question": "Zxqv wgfk?", "stream": False}
    answer = handbook.http.post("/v1/answers", json=question).json()
    assert (answer["text"], answer["refused"], answer["sources"]) == (REFUSAL, True, [])
    assert answer["refusal_reason"] == "low_confidence"


def test_a_filter_that_leaves_nothing_is_a_refusal_of_its_own(handbook: Stack) -> None:
    condition = {"field": "year", "op": "gt", "value": 3000}
    question = {"collection": "handbook", "question": "parental leave", "filter": condition, "stream": False}
    assert handbook.http.post("/v1/answers", json=question).json()["refusal_reason"] == "nothing_matches_filter"


def test_general_knowledge_without_a_language_model_says_so(handbook: Stack) -> None:
    question = {"collection": "handbook", "question": "How tall is Everest?", "mode": "GENERAL_KNOWLEDGE"}
    response = handbook.http.post("/v1/answers", json=question)
    assert (response.status_code, response.json()["field"]) == (400, "mode")
    assert "no language model is configured" in response.json()["detail"]


def test_a_republished_document_changes_the_next_answer_and_the_old_text_is_gone(stack: Stack) -> None:
    stack.http.post("/v1/collections", json={"name": "prices", "profile": "docs", "locale": "en"})
    stack.put("prices", {"id": "p", "text": "The entry ticket costs eleven euros."})
    before = stack.search("prices", "entry ticket")["generation"]["revision"]
    stack.put("prices", {"id": "p", "text": "The entry ticket costs twelve euros."})
    after = stack.search("prices", "entry ticket costs")
    assert [hit["text"] for hit in after["hits"]] == ["The entry ticket costs twelve euros."]
    assert after["generation"]["revision"] > before
    question = {"collection": "prices", "question": "What does the entry ticket cost?", "stream": False}
    assert "twelve" in stack.http.post("/v1/answers", json=question).json()["text"]


def test_a_deleted_document_is_found_no_more(stack: Stack) -> None:
    stack.http.post("/v1/collections", json={"name": "bin", "profile": "docs", "locale": "en"})
    stack.put("bin", {"id": "a/b c", "text": "Aardvarks dig."})
    gone = stack.http.delete("/v1/collections/bin/documents/a%2Fb%20c")
    assert stack.finished(gone.json()["job_id"])["outcomes"]["deleted"] == 1
    assert stack.search("bin", "aardvarks")["hits"] == []
    assert stack.http.get("/v1/collections/bin/documents/a%2Fb%20c").status_code == 404


def test_uploaded_files_are_documents_with_their_chunks(stack: Stack) -> None:
    stack.http.post("/v1/collections", json={"name": "files", "profile": "docs", "locale": "en"})
    uploads = [
        ("file", ("guide.md", b"# Guide\n\n## Start\n\nPress the green button.")),
        ("file", ("note.txt", b"Ask Ada.")),
    ]
    accepted = stack.http.post("/v1/collections/files/files", files=uploads)
    assert accepted.status_code == 202, accepted.text
    assert stack.finished(accepted.json()["job_id"])["outcomes"]["embedded"] == 2
    document = stack.http.get("/v1/collections/files/documents/guide.md").json()
    assert document["title"] == "Guide"
    assert [(chunk["heading_path"], chunk["text"]) for chunk in document["chunks"]] == [
        (["Guide", "Start"], "Press the green button.")
    ]


def test_what_was_stored_in_one_collection_is_not_found_in_another(handbook: Stack) -> None:
    handbook.http.post("/v1/collections", json={"name": "empty", "profile": "docs", "locale": "en"})
    assert handbook.search("empty", "parental leave")["hits"] == []
