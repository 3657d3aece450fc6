"""What callers get wrong: each fault has its status and names its field, and the process goes on."""

import asyncio
import json
from typing import Any

import pytest
import structlog

from tests.component.gateway.house import House, assert_problem

pytestmark = pytest.mark.asyncio(loop_scope="module")

SEARCH: dict[str, Any] = {"collection": "papers", "query": "cells"}
DOCUMENT: dict[str, Any] = {"id": "a", "text": "words"}


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"query": ""}, "query"),
        ({"query": " \n\t "}, "query"),
        ({"query": "x" * 100_000}, "query"),
        ({"query": 5}, "query"),
        ({"query": None}, "query"),
        ({"query": None, "like": "\u0000"}, "like"),
        ({"like": "d1"}, "like"),
        ({"cursor": "c", "offset": 1}, "offset"),
        ({"mode": "semantic"}, "mode"),
        ({"limit": "10"}, "limit"),
        ({"limit": 0}, "limit"),
        ({"limit": 1001}, "limit"),
        ({"limit": 1.5}, "limit"),
        ({"offset": -1}, "offset"),
        ({"limt": 5}, "limt"),
        ({"locale": "English"}, "locale"),
        ({"filter": []}, "filter"),
        ({"filter": {"all": [{"field": "year", "op": "equals", "value": 1}]}}, "filter.all[0].op"),
        ({"filter": {"any": [{"field": "year", "op": "eq", "value": [1]}]}}, "filter.any[0].value"),
        ({"filter": {"not": {"op": "eq", "value": 1}}}, "filter.not.field"),
        ({"ranking": {"lambda": 1.5}}, "ranking.lambda"),
        ({"ranking": {"lamda": 0.5}}, "ranking.lamda"),
        ({"ranking": {"diversify_by": "faculty"}}, "ranking.diversify_by"),
        ({"ranking": {"min_distinct": 30}}, "ranking.min_distinct"),
        ({"retrieval": {"depth": 5000}}, "retrieval.depth"),
        ({"retrieval": {"keyword_weight": 0, "vector_weight": 0}}, "retrieval.keyword_weight"),
    ],
)
async def test_a_search_names_the_field_at_fault(house: House, change: dict[str, Any], field: str) -> None:
    response = await house.http.post("/v1/search", json={**SEARCH, **change})
    assert_problem(response, 400, field=field)
    assert house.search.script.requests == []


async def test_an_unknown_collection_is_404_and_says_how_to_list_them(house: House) -> None:
    response = await house.http.post("/v1/search", json={**SEARCH, "collection": "paper"})
    problem = assert_problem(response, 404, field="collection")
    assert "GET /v1/collections" in problem["detail"]


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b'{"collection": "papers", "query": "\xff\xfe"}',
        b'{"collection": "papers", "query": "\\ud800"}',
        b'{"collection": "papers", "query": "x", "limit": NaN}',
        b"[" * 100_000,
        b"\x00",
    ],
)
async def test_a_body_that_is_not_json_in_utf8_is_400(house: House, body: bytes) -> None:
    response = await house.http.post("/v1/search", content=body, headers={"content-type": "application/json"})
    assert_problem(response, 400, field="body")


async def test_json_that_is_nested_too_deeply_is_told_so(house: House) -> None:
    nested = b"[" * 300 + b"]" * 300
    response = await house.http.post("/v1/search", content=nested, headers={"content-type": "application/json"})
    assert assert_problem(response, 400, field="body")["detail"] == "the JSON is nested too deeply"
    form = {"metadata": nested}
    response = await house.http.post("/v1/collections/papers/files", data=form, files={"file": ("a.md", b"x")})
    assert assert_problem(response, 400, field="metadata")["detail"] == "the JSON is nested too deeply"


@pytest.mark.parametrize(
    ("method", "path", "body", "detail"),
    [
        ("PUT", "/v1/collections/papers/documents", {"documents": []}, "should have at least 1 item"),
        ("PUT", "/v1/collections/papers/documents", {"documents": [5] * 1001}, "should have at most 1,000 items"),
        ("PUT", "/v1/collections/papers/documents", {"documents": {}}, "should be an array"),
        ("PUT", "/v1/collections/papers/documents", {"documents": [5]}, "should be an object"),
        ("PATCH", "/v1/collections/papers", {"settings": []}, "should be an object"),
        ("POST", "/v1/search", ["papers"], "should be an object"),
        ("POST", "/v1/search", {**SEARCH, "query": ""}, "should have at least 1 character"),
        ("POST", "/v1/search", {**SEARCH, "query": 5}, "should be a text"),
        ("POST", "/v1/search", {**SEARCH, "explain": "yes"}, "should be true or false"),
        ("POST", "/v1/search", {**SEARCH, "limit": 1.5}, "should be an integer"),
        ("POST", "/v1/search", {**SEARCH, "retrieval": {"vector_weight": "1"}}, "should be a number"),
        ("POST", "/v1/search", {**SEARCH, "mode": "fast"}, "should be 'hybrid', 'keyword' or 'vector'"),
    ],
)
async def test_what_was_expected_is_said_in_the_words_of_json(
    house: House, method: str, path: str, body: Any, detail: str
) -> None:
    response = await house.http.request(method, path, json=body)
    assert response.status_code == 400
    assert response.json()["detail"] == detail


async def test_a_body_that_is_no_object_is_400(house: House) -> None:
    assert_problem(await house.http.post("/v1/search", json=["papers"]), 400, field="body")


async def test_several_faults_are_all_named(house: House) -> None:
    response = await house.http.post("/v1/search", json={**SEARCH, "limit": "x", "mode": "y"})
    problem = assert_problem(response, 400, field="mode")
    assert {error["field"] for error in problem["errors"]} == {"limit", "mode"}


@pytest.mark.parametrize("content_type", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", ""])
async def test_another_content_type_is_415(house: House, content_type: str) -> None:
    response = await house.http.post(
        "/v1/search", content=json.dumps(SEARCH).encode(), headers={"content-type": content_type}
    )
    assert_problem(response, 415, field="content-type")


async def test_a_content_type_may_name_its_charset(house: House) -> None:
    response = await house.http.post(
        "/v1/search",
        content=json.dumps(SEARCH).encode(),
        headers={"content-type": "Application/JSON; charset=utf-8"},
    )
    assert response.status_code == 200


@pytest.mark.parametrize(
    ("document", "field"),
    [
        ({"text": "words"}, "documents[1].id"),
        ({"id": "", "text": "words"}, "documents[1].id"),
        ({"id": "a\nb", "text": "words"}, "documents[1].id"),
        ({"id": "b"}, "documents[1].text"),
        ({"id": "b", "markdown": " "}, "documents[1].markdown"),
        ({"id": "b", "text": "x", "html": "y"}, "documents[1].html"),
        ({"id": "b", "text": 5}, "documents[1].text"),
        ({"id": "b", "text": "x", "txet": "y"}, "documents[1].txet"),
        ({"id": "b", "text": "x", "metadata": {"year": [2021]}}, "documents[1].metadata.year"),
        ({"id": "b", "text": "x", "metadata": {"year": 2**60}}, "documents[1].metadata.year"),
    ],
)
async def test_a_document_names_its_field_at_fault_and_nothing_is_written(
    house: House, document: dict[str, Any], field: str
) -> None:
    response = await house.http.put("/v1/collections/papers/documents", json={"documents": [DOCUMENT, document]})
    assert_problem(response, 400, field=field)
    assert house.ingest.script.requests == []


@pytest.mark.parametrize("documents", [[], [DOCUMENT] * 1001, DOCUMENT])
async def test_a_write_takes_1_to_1000_documents(house: House, documents: Any) -> None:
    response = await house.http.put("/v1/collections/papers/documents", json={"documents": documents})
    assert_problem(response, 400, field="documents")


@pytest.mark.parametrize(
    ("method", "path", "allowed"),
    [
        ("GET", "/v1/search", "POST"),
        ("PUT", "/v1/answers", "POST"),
        ("PATCH", "/v1/collections", "GET, POST"),
        ("POST", "/v1/collections/papers/documents", "GET, PUT"),
        ("POST", "/v1/collections/papers/documents/a%2Fb", "DELETE, GET"),
        ("POST", "/healthz", "GET, HEAD"),
    ],
)
async def test_a_wrong_method_is_405_and_told_what_is_possible(
    house: House, method: str, path: str, allowed: str
) -> None:
    response = await house.http.request(method, path)
    assert_problem(response, 405)
    assert response.headers["allow"] == allowed


@pytest.mark.parametrize("path", ["/v1/nothing", "/v1/search/", "/console/../settings.py", "/console/%2e%2e/app.py"])
async def test_an_unknown_path_is_404(house: House, path: str) -> None:
    assert_problem(await house.http.get(path), 404)


GET_PATHS = (
    "/v1/collections",
    "/v1/collections/papers",
    "/v1/collections/papers/documents",
    "/v1/collections/papers/documents/a",
    "/v1/collections/papers/judgments",
    "/v1/jobs",
    "/v1/jobs/j1",
    "/v1/jobs/j1/events",
    "/v1/status",
    "/healthz",
    "/readyz",
    "/metrics",
)


@pytest.mark.parametrize("path", GET_PATHS)
async def test_a_parameter_that_there_is_not_is_400_and_named(house: House, path: str) -> None:
    assert_problem(await house.http.get(f"{path}?limt=5"), 400, field="limt")


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("POST", "/v1/search"),
        ("POST", "/v1/answers"),
        ("POST", "/v1/collections"),
        ("PATCH", "/v1/collections/papers"),
        ("DELETE", "/v1/collections/papers"),
        ("PUT", "/v1/collections/papers/documents"),
        ("DELETE", "/v1/collections/papers/documents/a"),
        ("PUT", "/v1/collections/papers/judgments"),
        ("POST", "/v1/collections/papers/files"),
        ("DELETE", "/v1/jobs/j1"),
    ],
)
async def test_a_write_with_a_parameter_is_400_and_does_nothing(house: House, method: str, path: str) -> None:
    body: dict[str, Any] = {} if method == "DELETE" else {"json": SEARCH}
    assert_problem(await house.http.request(method, f"{path}?dry_run=true", **body), 400, field="dry_run")
    assert house.ingest.script.requests == house.search.script.requests == []


async def test_a_parameter_given_twice_is_400(house: House) -> None:
    assert_problem(await house.http.get("/v1/jobs?limit=1&limit=2"), 400, field="limit")


async def test_the_page_of_the_console_reads_its_parameters_itself(house: House) -> None:
    assert (await house.http.get("/?collection=papers&q=cells")).status_code == 200


@pytest.mark.parametrize("escape", ["%FF%FE", "a%C3", "%ED%A0%80", "%", "%2", "%zz", "100%"])
@pytest.mark.parametrize("method", ["GET", "DELETE"])
async def test_an_id_that_is_not_utf8_percent_encoded_is_400(house: House, method: str, escape: str) -> None:
    status, problem = await sent(house, method, f"/v1/collections/papers/documents/{escape}")
    assert (status, problem["field"]) == (400, "path")


async def test_a_parameter_that_is_not_utf8_percent_encoded_is_400(house: House) -> None:
    status, problem = await sent(house, "GET", "/v1/jobs?limit=1&collection=%FF")
    assert (status, problem["field"]) == (400, "collection")


@pytest.mark.parametrize("character", ["%00", "%0A", "%0D", "%1F", "%7F", "%C2%85"])
@pytest.mark.parametrize("method", ["GET", "DELETE"])
async def test_an_id_with_a_control_character_is_400_and_named(house: House, method: str, character: str) -> None:
    for document_id in (f"a{character}b", f"a{character}", character):
        response = await house.http.request(method, f"/v1/collections/papers/documents/{document_id}")
        assert_problem(response, 400, field="document_id")


BODIES = (
    ("POST", "/v1/search"),
    ("POST", "/v1/answers"),
    ("POST", "/v1/collections"),
    ("PATCH", "/v1/collections/{collection}"),
    ("PUT", "/v1/collections/{collection}/documents"),
    ("PUT", "/v1/collections/{collection}/judgments"),
    ("POST", "/v1/collections/{collection}/files"),
)


@pytest.mark.parametrize(("method", "route"), BODIES)
async def test_a_caller_who_leaves_amid_the_body_is_499_and_no_fault_of_ours(
    house: House, method: str, route: str
) -> None:
    def left() -> float:
        labels = {"route": route, "method": method, "status": "499"}
        return house.telemetry.sample("plumbline_gateway_http_requests_total", **labels) or 0.0

    before = left()
    content_type = "multipart/form-data; boundary=b" if route.endswith("files") else "application/json"
    with structlog.testing.capture_logs() as logs:
        _, writer = await asyncio.open_connection("127.0.0.1", house.port)
        writer.write(
            f"{method} {route.format(collection='papers')} HTTP/1.1\r\nhost: x\r\n"
            f"content-type: {content_type}\r\ncontent-length: 1000\r\n\r\n--b\r\n".encode()
        )
        await writer.drain()
        writer.close()
        async with asyncio.timeout(5):
            while left() == before:
                await asyncio.sleep(0.01)
    assert left() == before + 1
    assert [log for log in logs if log["log_level"] in ("error", "critical")] == []


async def sent(house: House, method: str, target: str) -> tuple[int, dict[str, Any]]:
    """A request whose target goes out as it is; clients mend it."""
    reader, writer = await asyncio.open_connection("127.0.0.1", house.port)
    writer.write(f"{method} {target} HTTP/1.1\r\nhost: x\r\n\r\n".encode())
    response = await read_response(reader)
    writer.close()
    return response


async def read_response(reader: asyncio.StreamReader) -> tuple[int, dict[str, Any]]:
    head = (await reader.readuntil(b"\r\n\r\n")).decode()
    length = next(line for line in head.lower().splitlines() if line.startswith("content-length:"))
    body = await reader.readexactly(int(length.partition(":")[2]))
    return int(head.split()[1]), json.loads(body)


@pytest.mark.parametrize("path", ["/v1/search", "/v1/collections/papers/files"])
async def test_a_body_that_announces_too_much_is_refused_before_it_is_sent(house: House, path: str) -> None:
    content_type = "application/json" if path == "/v1/search" else "multipart/form-data; boundary=b"
    size = 200_000_000 if path == "/v1/search" else 20_000_000_000
    reader, writer = await asyncio.open_connection("127.0.0.1", house.port)
    writer.write(
        f"POST {path} HTTP/1.1\r\nhost: x\r\ncontent-type: {content_type}\r\ncontent-length: {size}\r\n\r\n".encode()
    )
    status, problem = await read_response(reader)
    writer.close()
    assert (status, problem["status"], problem["field"]) == (413, 413, "body")
    assert "bytes" in problem["detail"]


async def test_a_200_mb_body_of_unknown_length_is_refused_at_the_limit(house: House) -> None:
    sent = 0
    reader, writer = await asyncio.open_connection("127.0.0.1", house.port)
    writer.write(
        b"PUT /v1/collections/papers/documents HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n"
        b"transfer-encoding: chunked\r\n\r\n"
    )
    piece = b" " * 1_000_000
    answered = asyncio.ensure_future(read_response(reader))
    while sent < 200_000_000 and not answered.done():
        writer.write(b"%x\r\n%s\r\n" % (len(piece), piece))
        sent += len(piece)
        try:
            await writer.drain()
        except ConnectionError:
            break
    status, problem = await answered
    writer.close()
    assert (status, problem["status"], problem["field"]) == (413, 413, "body")
    assert sent < 40_000_000
    assert (await house.http.get("/healthz")).status_code == 200


async def test_the_process_survives_bytes_that_are_not_http(house: House) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", house.port)
    writer.write(b"\x16\x03\x01\x02\x00 no http at all\r\n\r\n")
    assert b"400" in await reader.read()
    writer.close()
    assert (await house.http.get("/healthz")).status_code == 200
