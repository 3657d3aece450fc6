"""What happens around every request: its id, its trace, its deadline, and faults that nobody foresaw."""

import pytest

from services.gateway.adapters.search_service import SearchService
from tests.component.gateway.house import House, assert_problem

pytestmark = pytest.mark.asyncio(loop_scope="module")

SEARCH = {"collection": "papers", "query": "x"}


@pytest.mark.parametrize("path", ["/", "/healthz", "/v1/status", "/v1/collections", "/v1/nothing", "/metrics"])
async def test_a_given_request_id_stands_in_the_response(house: House, path: str) -> None:
    response = await house.http.get(path, headers={"x-request-id": "req-1.A_b"})
    assert response.headers["x-request-id"] == "req-1.A_b"


@pytest.mark.parametrize("given", ["", "a b", "x" * 65, "<script>", "ä".encode().decode("latin-1")])
async def test_a_request_id_that_could_do_harm_is_replaced(house: House, given: str) -> None:
    response = await house.http.get("/healthz", headers={"x-request-id": given.encode("latin-1")})
    assert len(response.headers["x-request-id"]) == 32


async def test_request_id_and_deadline_travel_with_the_call(house: House) -> None:
    await house.http.post("/v1/search", json=SEARCH, headers={"x-request-id": "req-7"})
    assert house.search.script.metadata[0]["plumbline-request-id"] == "req-7"
    assert 5 < house.search.script.seconds_left[0] < 11  # gRPC rounds up


async def test_a_search_is_one_trace_from_the_caller_to_the_service(own_house: House) -> None:
    caller = "00-0123456789abcdef0123456789abcdef-0123456789abcdef-01"
    await own_house.http.post("/v1/search", json=SEARCH, headers={"traceparent": caller, "x-request-id": "req-8"})
    request, call = sorted(own_house.telemetry.spans(), key=lambda span: span.start_time)
    (served,) = own_house.service_telemetry["search"].spans()
    assert request.name == "POST /v1/search"
    assert f"{request.context.trace_id:032x}" == "0123456789abcdef0123456789abcdef"
    assert f"{request.parent.span_id:016x}" == "0123456789abcdef"
    assert call.name == "plumbline.search.v1.SearchService/Search"
    assert call.parent.span_id == request.context.span_id
    assert served.parent.span_id == call.context.span_id
    assert served.context.trace_id == request.context.trace_id
    assert request.attributes["plumbline.request_id"] == "req-8"
    assert request.attributes["http.route"] == "/v1/search"
    assert request.attributes["http.response.status_code"] == 200


async def test_a_streamed_answer_is_one_trace_too(own_house: House) -> None:
    await own_house.http.post("/v1/answers", json={"collection": "papers", "question": "x"})
    request, call = sorted(own_house.telemetry.spans(), key=lambda span: span.start_time)
    (served,) = own_house.service_telemetry["answer"].spans()
    assert (request.name, call.parent.span_id) == ("POST /v1/answers", request.context.span_id)
    assert served.parent.span_id == call.context.span_id
    assert request.end_time >= call.end_time


async def test_probes_leave_no_spans(own_house: House) -> None:
    for path in ("/healthz", "/readyz", "/metrics"):
        await own_house.http.get(path)
    assert own_house.telemetry.spans() == ()


async def test_a_fault_that_nobody_foresaw_is_500_and_told_to_the_log_only(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fails(*_: object) -> None:
        raise RuntimeError("secret inside")

    monkeypatch.setattr(SearchService, "search", fails)
    response = await house.http.post("/v1/search", json=SEARCH)
    assert "secret" not in str(assert_problem(response, 500))
    assert (await house.http.get("/healthz")).status_code == 200
