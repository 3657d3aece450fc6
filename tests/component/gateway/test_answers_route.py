"""`POST /v1/answers` over a scripted answer service: the stream, the one object, refusals, failures, leaving."""

import asyncio
import json
from typing import Any

import httpx
import pytest

from plumbline.answer.v1 import answer_pb2
from services.shared.runtime.errors import DependencyUnavailable, InvalidInput, PermissionDenied
from tests.component.gateway.house import ANSWER, DONE, House, assert_problem, event, read_events

pytestmark = pytest.mark.asyncio(loop_scope="module")

REFUSAL = "The provided document does not contain enough information to answer this question."


def refused(reason: int, *before: answer_pb2.AnswerResponse) -> tuple[answer_pb2.AnswerResponse, ...]:
    done = answer_pb2.Done()
    done.CopyFrom(DONE)
    done.finish_reason = answer_pb2.FINISH_REASON_REFUSAL
    refusal = answer_pb2.Refusal(text=REFUSAL, reason=reason)
    return (*before, event(refusal=refusal), event(done=done))


async def ask(house: House, **body: Any) -> httpx.Response:
    return await house.http.post("/v1/answers", json={"collection": "papers", "question": "What is TOIL?", **body})


async def test_the_stream_tells_sources_text_citations_and_the_end(house: House) -> None:
    response = await ask(house)
    assert response.headers["content-type"].startswith("text/event-stream")
    events = read_events(response.text)
    assert [name for name, _ in events] == ["sources", "delta", "delta", "citation", "done"]
    assert {data["mode"] for _, data in events} == {"DOCUMENTS"}
    told = dict(events)
    assert told["sources"]["sources"] == [
        {
            "number": 1,
            "document_id": "d1",
            "chunk_ids": ["c1", "c2"],
            "title": "Leave",
            "uri": None,
            "heading_path": ["Time"],
            "text": "TOIL is time off.",
        }
    ]
    assert told["citation"] == {
        "mode": "DOCUMENTS",
        "source": 1,
        "start": 0,
        "end": 27,
        "support": 0.9,
        "supported": True,
    }
    assert told["done"] == {
        "mode": "DOCUMENTS",
        "request_id": response.headers["x-request-id"],
        "finish_reason": "stop",
        "confidence": 0.8,
        "calibration": "uncalibrated",
        "generator": "extractive",
        "usage": {"prompt_tokens": 0, "completion_tokens": 0},
        "timings_ms": {"search": 1, "first_token": 2, "generate": 3, "total": 4},
        "generation": {"id": "g1", "revision": 7},
        "degraded": [],
        "dropped_markers": 0,
    }


async def test_text_keeps_its_line_breaks_and_scripts_on_the_way(house: House) -> None:
    text = "one\n\ndata: two\r\n明月 🌶 \u2028 end"
    house.answer.events = (event(delta=answer_pb2.Delta(text=text)), event(done=DONE))
    assert read_events((await ask(house)).text)[0] == ("delta", {"mode": "DOCUMENTS", "text": text})


async def test_without_stream_the_answer_is_one_object(house: House) -> None:
    unsupported = answer_pb2.Unsupported(source=1, start=28, end=40, reasons=["number"])
    house.answer.events = (*ANSWER[:4], event(unsupported=unsupported), ANSWER[4])
    response = await ask(house, stream=False)
    answer = response.json()
    assert answer["text"] == "TOIL is time off [Source 1]."
    assert answer["request_id"] == response.headers["x-request-id"]
    assert (answer["refused"], "refusal_reason" in answer) == (False, False)
    assert [source["number"] for source in answer["sources"]] == [1]
    assert answer["citations"] == [{"source": 1, "start": 0, "end": 27, "support": 0.9, "supported": True}]
    assert answer["unsupported"] == [{"source": 1, "start": 28, "end": 40, "reasons": ["number"]}]
    assert (answer["confidence"], answer["generator"], answer["finish_reason"]) == (0.8, "extractive", "stop")
    assert answer["generation"] == {"id": "g1", "revision": 7}
    assert answer["mode"] == "DOCUMENTS"


async def test_a_refusal_by_the_generator_voids_what_was_sent_before(house: House) -> None:
    house.answer.events = refused(answer_pb2.REFUSAL_REASON_GENERATOR_REFUSED, *ANSWER[:4])
    assert [name for name, _ in read_events((await ask(house)).text)][-2:] == ["refusal", "done"]
    answer = (await ask(house, stream=False)).json()
    assert (answer["text"], answer["refused"], answer["refusal_reason"]) == (REFUSAL, True, "generator_refused")
    assert (answer["sources"], answer["citations"], answer["finish_reason"]) == ([], [], "refusal")


async def test_general_knowledge_is_labelled_in_every_event_and_has_no_sources(house: House) -> None:
    done = answer_pb2.Done(finish_reason=answer_pb2.FINISH_REASON_STOP, generator="smollm2")
    general = answer_pb2.MODE_GENERAL_KNOWLEDGE
    house.answer.events = (event(general, delta=answer_pb2.Delta(text="Time off.")), event(general, done=done))
    events = read_events((await ask(house, mode="GENERAL_KNOWLEDGE")).text)
    assert [data["mode"] for _, data in events] == ["GENERAL_KNOWLEDGE"] * 2
    answer = (await ask(house, mode="GENERAL_KNOWLEDGE", stream=False)).json()
    assert (answer["sources"], answer["confidence"], answer["generation"]) == ([], None, None)


async def test_the_question_goes_down_with_settings_and_search(house: House) -> None:
    settings = {"answer": {"refusal_sentence_by_locale": {"tr": "Belgeler yetmiyor."}, "same_field": "unit"}}
    await house.declare("course-2", profile="lesson", locale="en", fields={"unit": "integer"}, settings=settings)
    await ask(
        house,
        collection="course-2",
        locale="tr-TR",
        max_tokens=50,
        filter={"field": "unit", "op": "eq", "value": 3},
        ranking={"recency": False},
    )
    (sent,) = house.answer.script.requests
    assert (sent.question, sent.max_tokens, sent.mode) == ("What is TOIL?", 50, answer_pb2.MODE_DOCUMENTS)
    assert sent.settings.refusal_sentence == "Belgeler yetmiyor."
    assert (sent.settings.same_field, sent.settings.profile) == ("unit", "lesson")
    assert sent.settings.general_knowledge_allowed
    assert not sent.settings.HasField("min_confidence")
    assert sent.search.collection == "course-2"
    assert sent.search.filter.comparison.field == "unit"
    assert not sent.search.ranking.recency_tiers


@pytest.mark.parametrize("stream", [True, False])
@pytest.mark.parametrize(
    ("error", "status", "field"),
    [
        (InvalidInput("no language model is configured", field="mode"), 400, "mode"),
        (PermissionDenied("this collection answers from its documents only"), 403, None),
        (DependencyUnavailable("search does not answer", retry_after_s=1), 503, None),
    ],
)
async def test_a_failure_before_the_first_event_is_a_status(
    house: House, error: Exception, status: int, field: str | None, stream: bool
) -> None:
    house.answer.script.error = error
    response = await ask(house, stream=stream)
    assert_problem(response, status, field=field)
    assert ("retry-after" in response.headers) == (status == 503)


async def test_a_failure_after_the_first_event_is_the_last_event(house: House) -> None:
    failure = answer_pb2.Failure(code="UNAVAILABLE", message="the language model does not answer", retry_after_s=2)
    house.answer.events = (*ANSWER[:2], event(failure=failure))
    response = await ask(house)
    name, problem = read_events(response.text)[-1]
    assert (response.status_code, name) == (200, "error")
    assert (problem["status"], problem["detail"]) == (503, "the language model does not answer")
    assert (problem["retry_after_s"], problem["mode"]) == (2, "DOCUMENTS")
    assert problem["request_id"] == response.headers["x-request-id"]


async def test_without_stream_a_late_failure_is_a_status(house: House) -> None:
    failure = answer_pb2.Failure(code="DEADLINE_EXCEEDED", message="out of time")
    house.answer.events = (*ANSWER[:2], event(failure=failure))
    assert_problem(await ask(house, stream=False), 504)


async def test_a_fault_of_the_service_after_the_first_event_leaks_nothing(house: House) -> None:
    house.answer.events = ANSWER[:2]
    house.answer.error_after = RuntimeError("secret prompt")
    name, problem = read_events((await ask(house)).text)[-1]
    assert (name, problem["status"]) == ("error", 500)
    assert "secret" not in json.dumps(problem)


async def test_answer_that_is_away_is_503_while_searches_go_on(own_house: House) -> None:
    await own_house.stop("answer")
    assert_problem(await ask(own_house), 503)
    search = await own_house.http.post("/v1/search", json={"collection": "papers", "query": "x"})
    assert search.status_code == 200


async def test_answer_that_dies_in_mid_stream_ends_it_with_an_error(own_house: House) -> None:
    own_house.answer.events, own_house.answer.silence = ANSWER[:2], asyncio.Event()
    body = {"collection": "papers", "question": "What is TOIL?"}
    async with own_house.http.stream("POST", "/v1/answers", json=body) as response:
        lines = response.aiter_lines()
        assert await anext(lines) == "event: sources"
        await own_house.stop("answer")
        rest = [line async for line in lines]
    assert "event: error" in rest
    assert '"status":503' in "".join(rest)


async def test_a_caller_who_leaves_the_stream_stops_the_generator(house: House) -> None:
    house.answer.events, house.answer.silence = ANSWER[:2], asyncio.Event()
    body = {"collection": "papers", "question": "What is TOIL?"}
    async with house.http.stream("POST", "/v1/answers", json=body) as response:
        assert await anext(response.aiter_lines()) == "event: sources"
    async with asyncio.timeout(5):
        await house.answer.cancelled.wait()


@pytest.mark.parametrize("stream", [True, False])
async def test_a_caller_who_leaves_before_the_first_event_stops_the_generator(house: House, stream: bool) -> None:
    house.answer.events, house.answer.silence = (), asyncio.Event()
    asking = asyncio.ensure_future(ask(house, stream=stream))
    await house.answer.begun.wait()
    asking.cancel()
    async with asyncio.timeout(5):
        await house.answer.cancelled.wait()


async def test_an_unknown_collection_is_404_before_anything_is_asked(house: House) -> None:
    assert_problem(await ask(house, collection="none"), 404, field="collection")
    assert house.answer.script.requests == []


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"question": "  "}, "question"),
        ({"question": "x" * 100_000}, "question"),
        ({"mode": "general"}, "mode"),
        ({"max_tokens": 0}, "max_tokens"),
        ({"stream": "yes"}, "stream"),
        ({"temperature": 1}, "temperature"),
    ],
)
async def test_a_question_names_the_field_at_fault(house: House, change: dict[str, Any], field: str) -> None:
    assert_problem(await ask(house, **change), 400, field=field)
