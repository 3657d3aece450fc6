"""`/v1/status`, the probes, the metrics and the console."""

import re

import pytest

from services.shared.runtime.version import VERSION
from tests.component.gateway.house import House

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def test_all_six_services_serve(house: House) -> None:
    status = (await house.http.get("/v1/status")).json()
    assert (status["ready"], status["degraded"]) == (True, [])
    assert set(status["services"]) == {"gateway", "embedding", "search", "ranking", "answer", "ingest"}
    assert {service["state"] for service in status["services"].values()} == {"serving"}
    assert {service["version"] for service in status["services"].values()} == {VERSION}
    assert status["model"] == {
        "name": "all-MiniLM-L6-v2",
        "weights_sha256": "ab",
        "dimensions": 384,
        "max_tokens": 256,
        "languages": ["en"],
        "kind": "sentence-transformers",
        "device": "cpu",
        "dtype": "float32",
    }
    assert status["generator"] == {"name": "extractive", "general_knowledge": False, "context_tokens": 0}


async def test_a_service_that_is_away_is_named_with_what_is_missed(own_house: House) -> None:
    for service in ("embedding", "ranking"):
        await own_house.stop(service)
    status = (await own_house.http.get("/v1/status")).json()
    assert (status["ready"], status["degraded"], status["model"]) == (False, ["ranking", "vector"], None)
    assert status["services"]["embedding"] == {"state": "unreachable", "version": None}
    assert status["services"]["search"]["state"] == "serving"
    assert (await own_house.http.get("/readyz")).status_code == 200


async def test_probes_answer_with_a_request_id(house: House) -> None:
    for path in ("/healthz", "/readyz"):
        response = await house.http.get(path)
        assert response.status_code == 200
        assert response.headers["x-request-id"]


async def test_metrics_are_there_before_the_first_request(own_house: House) -> None:
    text = (await own_house.http.get("/metrics")).text
    for route, status in (("/v1/search", "200"), ("/v1/search", "503"), ("/v1/collections/{collection}", "404")):
        method = "POST" if route == "/v1/search" else "GET"
        series = f'plumbline_gateway_http_requests_total{{method="{method}",route="{route}",status="{status}"}} 0.0'
        assert series in text
    assert 'plumbline_gateway_client_requests_total{code="OK",method="Search",peer="search"} 0.0' in text


async def test_requests_are_counted_by_the_route_s_template(own_house: House) -> None:
    for name in ("a", "b"):
        await own_house.http.get(f"/v1/collections/{name}")
    await own_house.http.get("/v1/nothing/here")
    labels = {"route": "/v1/collections/{collection}", "method": "GET", "status": "404"}
    assert own_house.telemetry.sample("plumbline_gateway_http_requests_total", **labels) == 2
    labels = {"route": "unmatched", "method": "GET", "status": "404"}
    assert own_house.telemetry.sample("plumbline_gateway_http_requests_total", **labels) == 1


async def test_the_console_loads_nothing_from_elsewhere_and_runs_nothing_inline(house: House) -> None:
    page = await house.http.get("/")
    policy = page.headers["content-security-policy"]
    assert page.headers["content-type"].startswith("text/html")
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert not re.search(r"<script(?![^>]*\bsrc=)|<style|\sstyle=|\son\w+=|https?://", page.text)
    for path in re.findall(r'(?:src|href)="(/console/[^"]+)"', page.text):
        part = await house.http.get(path)
        assert part.status_code == 200, path
        assert part.headers["x-content-type-options"] == "nosniff"


async def test_every_module_of_the_console_is_served_and_builds_no_html_from_text(house: House) -> None:
    seen, wanted = set(), {"main.js"}
    while wanted - seen:
        name = (wanted - seen).pop()
        module = await house.http.get(f"/console/{name}")
        assert module.headers["content-type"].startswith(("text/javascript", "application/javascript"))
        assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(", module.text)
        seen.add(name)
        wanted |= set(re.findall(r'from "\./([^"]+)"', module.text))
    assert seen == {"main.js", "api.js", "dom.js", "search_view.js", "ask_view.js"}


@pytest.mark.parametrize("path", ["/", "/console/main.js", "/healthz", "/readyz", "/metrics"])
async def test_what_machines_and_browsers_look_at_can_be_asked_by_head(house: House, path: str) -> None:
    head, get = await house.http.head(path), await house.http.get(path)
    assert (head.status_code, head.content) == (200, b"")
    assert head.headers["content-type"] == get.headers["content-type"]


async def test_problems_are_described_under_their_own_media_type(house: House) -> None:
    document = (await house.http.get("/openapi.json")).json()
    problem = {"application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}}
    for path, operations in document["paths"].items():
        for method, operation in operations.items():
            for status in ("4XX", "5XX"):
                assert operation["responses"][status]["content"] == problem, (method, path)
    assert "Problem" in document["components"]["schemas"]


async def test_the_api_describes_itself(house: House) -> None:
    document = (await house.http.get("/openapi.json")).json()
    assert {"/v1/search", "/v1/answers", "/v1/collections/{collection}/files"} <= set(document["paths"])
    assert "422" not in str(document["paths"]["/v1/search"]["post"]["responses"].keys())
