"""`/v1/collections/{c}/documents`: ids of every kind, pages, chunks, writes."""

from urllib.parse import quote

import pytest

from plumbline.ingest.v1 import ingest_pb2
from plumbline.search.v1 import filter_pb2
from services.shared.runtime.errors import InvalidInput, NotFound
from tests.component.gateway.house import House, assert_problem

pytestmark = pytest.mark.asyncio(loop_scope="module")

DOCUMENTS = "/v1/collections/papers/documents"
IDS = ("a/b/c", "ünïcode 明月", "100% ?#&+", "https://example.org/x?y=1#z", "/leading", "trailing/", "a//b")


async def test_documents_are_accepted_with_a_job(house: House) -> None:
    document = {
        "id": "a/b",
        "title": "T",
        "uri": "https://example.org",
        "locale": "tr",
        "date": "2021-03",
        "metadata": {"department": "physics", "year": 2021, "share": 0.5, "open": True, "none": None},
        "markdown": "# Words",
    }
    response = await house.http.put(DOCUMENTS, json={"documents": [document, {"uri": "u", "html": "<p>x"}]})
    assert (response.status_code, response.json()) == (202, {"job_id": "j1"})
    (sent,) = house.ingest.script.requests
    first, second = sent.documents
    assert (sent.collection, first.id, first.title, first.uri) == ("papers", "a/b", "T", "https://example.org")
    assert (first.locale, first.date, first.markdown) == ("tr", "2021-03", "# Words")
    assert dict(first.metadata) == {
        "department": filter_pb2.Value(text="physics"),
        "year": filter_pb2.Value(integer=2021),
        "share": filter_pb2.Value(number=0.5),
        "open": filter_pb2.Value(boolean=True),
    }
    assert (second.id, second.html) == ("", "<p>x")


async def test_a_write_to_an_unknown_collection_is_404(house: House) -> None:
    house.ingest.script.error = NotFound("collection 'none' does not exist", field="collection")
    response = await house.http.put("/v1/collections/none/documents", json={"documents": [{"id": "a", "text": "b"}]})
    assert_problem(response, 404, field="collection")


async def test_ingest_that_is_away_fails_writes_with_503_and_reads_go_on(own_house: House) -> None:
    await own_house.accept("a")
    await own_house.stop("ingest")
    written = await own_house.http.put(DOCUMENTS, json={"documents": [{"id": "b", "text": "c"}]})
    assert assert_problem(written, 503)["detail"] == "ingest does not answer"
    assert "retry-after" in written.headers
    assert_problem(await own_house.http.delete(f"{DOCUMENTS}/a"), 503)
    listed = (await own_house.http.get(DOCUMENTS)).json()["documents"]
    assert [document["id"] for document in listed] == ["a"]
    assert (await own_house.http.get("/v1/jobs/j1")).json()["state"] == "queued"


async def test_pages_follow_each_other_without_gap_or_overlap(own_house: House) -> None:
    await own_house.accept(*IDS)
    seen: list[str] = []
    cursor: str | None = ""
    while cursor is not None:
        page = (
            await own_house.http.get(DOCUMENTS, params={"limit": 3} | ({"cursor": cursor} if cursor else {}))
        ).json()
        seen += [document["id"] for document in page["documents"]]
        cursor = page["next"]
    assert seen == sorted(IDS)


async def test_a_listed_document_has_the_shape_that_clients_rely_on(own_house: House) -> None:
    await own_house.accept("a")
    page = (await own_house.http.get(DOCUMENTS)).json()
    assert page == {
        "documents": [
            {
                "id": "a",
                "title": "Title of a",
                "uri": None,
                "locale": "en",
                "date": "2021",
                "metadata": {"year": 2021},
                "chunks": 0,
            }
        ],
        "next": None,
    }


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ("limit=0", "limit"),
        ("limit=1001", "limit"),
        ("limit=x", "limit"),
        ("cursor=%25", "cursor"),
        ("cursor=_w==", "cursor"),
    ],
)
async def test_a_list_names_the_parameter_at_fault(house: House, query: str, field: str) -> None:
    assert_problem(await house.http.get(f"{DOCUMENTS}?{query}"), 400, field=field)


async def test_documents_of_every_id_are_shown_with_their_chunks(own_house: House) -> None:
    await own_house.accept(*IDS)
    for document_id in IDS:
        for path in (quote(document_id, safe=""), quote(document_id)):
            shown = await own_house.http.get(f"{DOCUMENTS}/{path}")
            assert shown.json()["id"] == document_id, shown.text
    assert shown.json()["chunks"] == [
        {"chunk_id": "c1", "heading_path": ["A"], "pages": [2], "text": "one", "tokens": 1}
    ]
    assert own_house.search.script.requests[-1].document_id == IDS[-1]


async def test_a_document_of_an_unknown_collection_names_the_collection(house: House) -> None:
    response = await house.http.get("/v1/collections/nope/documents/a")
    assert "'nope'" in assert_problem(response, 404, field="collection")["detail"]


async def test_documents_with_a_content_too_large_are_413(house: House) -> None:
    house.ingest.script.error = InvalidInput("the content is larger than 9 bytes", field="content")
    response = await house.http.put(DOCUMENTS, json={"documents": [{"id": "a", "text": "0123456789"}]})
    assert_problem(response, 413, field="documents")


async def test_an_unknown_document_is_404(house: House) -> None:
    assert_problem(await house.http.get(f"{DOCUMENTS}/none"), 404, field="document_id")


async def test_an_id_with_a_control_character_is_400(house: House) -> None:
    assert_problem(await house.http.get(f"{DOCUMENTS}/a%00b"), 400, field="document_id")
    assert_problem(await house.http.delete(f"{DOCUMENTS}/a%1Fb"), 400, field="document_id")


async def test_a_document_whose_chunks_cannot_be_read_is_503_and_not_an_empty_list(own_house: House) -> None:
    await own_house.accept("a")
    await own_house.stop("search")
    assert_problem(await own_house.http.get(f"{DOCUMENTS}/a"), 503)


async def test_a_deletion_is_accepted_with_a_job(house: House) -> None:
    response = await house.http.delete(f"{DOCUMENTS}/{quote('a/b c', safe='')}")
    assert (response.status_code, response.json()) == (202, {"job_id": "j2"})
    assert house.ingest.script.requests == [
        ingest_pb2.DeleteDocumentsRequest(collection="papers", document_ids=["a/b c"])
    ]
