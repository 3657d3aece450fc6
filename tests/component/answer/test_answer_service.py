"""The answer service behind a real server, between a scripted search and embedding and a language model's server."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import Any

import grpc
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc

from plumbline.answer.v1 import answer_pb2 as pb
from plumbline.answer.v1.answer_pb2_grpc import AnswerServiceStub
from plumbline.search.v1 import filter_pb2, search_pb2
from services.answer.settings import AnswerServiceSettings
from services.answer.wiring import build
from services.shared.runtime.errors import DependencyUnavailable, InvalidInput, NotFound
from tests.fakes.openai_server import FakeLanguageModelServer, Reply, Script, serving_language_model
from tests.fakes.scripted_embedding import ScriptedEmbedding, serving_embedding
from tests.fakes.scripted_search import ScriptedSearch, serving_search
from tests.fakes.serving import RecordedTelemetry, channel_to, recorded_telemetry, served

REFUSAL = "The provided document does not contain enough information to answer this question."
NOTHING = "There is no such lesson."

PAGE = search_pb2.SearchResponse(
    generation=search_pb2.Generation(id="g1", revision=7),
    hits=[
        search_pb2.Hit(
            rank=1, chunk_id="c1", document_id="sky", title="Sky", uri="https://example.org/sky", heading_path=["Day"],
            pages=[3], text="The sky is blue at noon. Clouds are white.", start=10, end=52, tokens=12, locale="en",
            metadata={"unit": filter_pb2.Value(integer=2)},
        ),
        search_pb2.Hit(
            rank=2, chunk_id="c2", document_id="grass", title="Grass", text="Grass is green.", end=15, tokens=4,
            locale="en",
        ),
    ],
    signals=search_pb2.Signals(best_cosine=0.8, model="all-MiniLM-L6-v2"),
)  # fmt: skip


def page(**changes: Any) -> search_pb2.SearchResponse:
    """PAGE with other fields of its own or of its signals; `hits=False` leaves the hits out."""
    changed = search_pb2.SearchResponse()
    changed.CopyFrom(PAGE)
    if not changes.pop("hits", True):
        changed.ClearField("hits")
    for name, value in changes.items():
        if name == "degraded":
            changed.degraded.extend(value)
        elif value is None:
            changed.signals.ClearField(name)
        else:
            setattr(changed.signals, name, value)
    return changed


def request(*, mode: int = pb.MODE_DOCUMENTS, search: bool = True, **changes: Any) -> pb.AnswerRequest:
    """A question; changes to its settings are given as `settings__<name>`."""
    settings: dict[str, Any] = {
        "refusal_sentence": REFUSAL,
        "nothing_matches_sentence": NOTHING,
        "general_knowledge_allowed": True,
        "max_passage_tokens": 2500,
        "profile": "docs",
    }
    settings |= {
        name.removeprefix("settings__"): changes.pop(name) for name in list(changes) if name[:9] == "settings_"
    }
    asked = {
        "question": "What colour is the sky?",
        "mode": mode,
        "settings": pb.AnswerSettings(**settings),
        "search": search_pb2.SearchRequest(
            collection="weather",
            limit=50,
            filter=filter_pb2.Filter(comparison=filter_pb2.Comparison(field="unit")),
            retrieval=search_pb2.RetrievalSettings(locale="en", rrf_k=60),
        )
        if search
        else None,
    }
    return pb.AnswerRequest(**(asked | changes))


@dataclass
class House:
    """The service, what stands around it, and its signals."""

    stub: AnswerServiceStub
    channel: grpc.aio.Channel
    search: ScriptedSearch
    embedding: ScriptedEmbedding
    model: FakeLanguageModelServer | None
    telemetry: RecordedTelemetry

    async def events(self, asked: pb.AnswerRequest | None = None, timeout_s: float = 10) -> list[pb.AnswerResponse]:
        return [event async for event in self.stub.Answer(asked or request(), timeout=timeout_s)]

    async def refused(self, asked: pb.AnswerRequest) -> tuple[grpc.StatusCode, str | None, str]:
        """Status, field and sentence of a call that fails before its first event."""
        with pytest.raises(grpc.aio.AioRpcError) as failure:
            await self.events(asked)
        field = dict(list(failure.value.trailing_metadata())).get("plumbline-error-field-bin")
        return failure.value.code(), field.decode() if field else None, failure.value.details()

    def count(self, name: str, **labels: str) -> float | None:
        return self.telemetry.sample(f"plumbline_answer_{name}", **labels)


@asynccontextmanager
async def house(
    outcome: search_pb2.SearchResponse | Exception = PAGE,
    script: Script | None = None,
    *,
    embedding: ScriptedEmbedding | None = None,
    **settings: Any,
) -> AsyncIterator[House]:
    """With a `script` a language model writes, else sentences are quoted."""
    async with AsyncExitStack() as stack:
        search, embedding = ScriptedSearch(outcome), embedding or ScriptedEmbedding()
        telemetry = recorded_telemetry("answer")
        model = await stack.enter_async_context(serving_language_model(script)) if script else None
        if model:
            settings |= {"llm_url": model.url, "llm_model": "fake-model"}
        knobs = AnswerServiceSettings(
            port=0,
            search_target=(await stack.enter_async_context(serving_search(search))).target,
            embedding_target=(await stack.enter_async_context(serving_embedding(embedding))).target,
            **settings,
        )
        app = await build(knobs, telemetry.telemetry)
        running = await stack.enter_async_context(served(app, knobs, telemetry.telemetry))
        channel = await stack.enter_async_context(channel_to(running.target))
        yield House(AnswerServiceStub(channel), channel, search, embedding, model, telemetry)


def kinds(events: list[pb.AnswerResponse]) -> list[str]:
    return [event.WhichOneof("event") for event in events]


def text_of(events: list[pb.AnswerResponse]) -> str:
    return "".join(event.delta.text for event in events)


def writes(*pieces: str, finish_reason: str = "stop") -> Script:
    async def script(reply: Reply) -> None:
        await reply.begin()
        await reply.text(*pieces, finish_reason=finish_reason)
        await reply.end()

    return script


async def test_an_answer_streams_sources_text_citations_and_its_end() -> None:
    async with house(script=writes("The sky is ", "blue at noon [", "1]. Grass is 7 green [Source 2].")) as it:
        events = await it.events()
    assert kinds(events) == ["sources", *["delta"] * 3, "citation", "citation", "unsupported", "done"]
    first = events[0].sources.sources[0]
    assert (first.number, first.document_id, list(first.chunk_ids), list(first.pages)) == (1, "sky", ["c1"], [3])
    assert (first.title, first.uri, list(first.heading_path)) == ("Sky", "https://example.org/sky", ["Day"])
    assert (first.text, first.start, first.end) == ("The sky is blue at noon. Clouds are white.", 10, 52)
    assert events[0].sources.generation.revision == 7
    text = text_of(events)
    assert text == "The sky is blue at noon [Source 1]. Grass is 7 green [Source 2]."
    cited = events[4].citation
    assert (cited.source, text[cited.start : cited.end]) == (1, "The sky is blue at noon [Source 1].")
    assert cited.supported
    assert cited.support == 1.0
    assert list(events[-2].unsupported.reasons) == ["number"]
    done = events[-1].done
    assert (done.finish_reason, done.generator, done.calibration) == (
        pb.FINISH_REASON_STOP,
        "fake-model",
        "uncalibrated",
    )
    assert (done.usage.prompt_tokens, done.usage.completion_tokens, done.generation.id) == (12, 3, "g1")
    assert done.confidence > 0.9
    assert 0 < done.timings.search_ms < done.timings.first_token_ms < done.timings.total_ms
    assert {event.mode for event in events} == {pb.MODE_DOCUMENTS}


async def test_text_arrives_while_it_is_written() -> None:
    seen = asyncio.Event()

    async def waits(reply: Reply) -> None:
        await reply.begin()
        await reply.text("First. ")
        await seen.wait()
        await reply.text("Last.", finish_reason="stop")
        await reply.end()

    async with house(script=waits) as it:
        texts = []
        async for event in it.stub.Answer(request(), timeout=10):
            if event.WhichOneof("event") == "delta":
                texts.append(event.delta.text)
                seen.set()
    assert texts == ["First.", " Last."]


async def test_the_search_goes_down_unchanged_but_for_query_and_limit() -> None:
    async with house(passages=5) as it:
        asked = request()
        await it.events(asked)
    (sent,) = it.search.requests
    assert (sent.query, sent.limit) == ("What colour is the sky?", 5)
    sent.query, sent.limit = "", 50
    assert sent == asked.search


async def test_without_a_language_model_the_best_sentences_are_quoted() -> None:
    async with house() as it:
        events = await it.events()
        described = await it.stub.DescribeGenerator(pb.DescribeGeneratorRequest(), timeout=5)
    assert kinds(events) == ["sources", "delta", "delta", "citation", "citation", "done"]
    assert text_of(events) == "The sky is blue at noon. [Source 1]\n\nClouds are white. [Source 1]"
    assert events[3].citation.supported
    assert events[-1].done.generator == "extractive"
    (embedded,) = it.embedding.requests
    assert embedded.model == "all-MiniLM-L6-v2"
    assert embedded.texts[0] == "What colour is the sky?"
    assert (described.generator, described.general_knowledge, described.context_tokens) == ("extractive", False, 0)


async def test_without_embedding_sentences_are_quoted_by_their_words() -> None:
    async with house(embedding=ScriptedEmbedding(DependencyUnavailable("down"))) as it:
        events = await it.events()
    assert "The sky is blue at noon. [Source 1]" in text_of(events)
    assert not events[-1].done.degraded


async def test_low_confidence_is_a_refusal_without_sources_before_a_token_is_spent() -> None:
    async with house(page(best_cosine=0.1), writes("never")) as it:
        refusal, end = await it.events()
    assert (refusal.refusal.text, refusal.refusal.reason) == (REFUSAL, pb.REFUSAL_REASON_LOW_CONFIDENCE)
    assert (end.done.finish_reason, end.done.generator) == (pb.FINISH_REASON_REFUSAL, "")
    assert end.done.confidence < 0.1
    assert it.model.bodies == []


async def test_a_filter_that_leaves_nothing_is_told_in_the_collections_words() -> None:
    async with house(page(hits=False, best_cosine=None, filtered_count=0)) as it:
        refusal, end = await it.events()
    assert (refusal.refusal.text, refusal.refusal.reason) == (NOTHING, pb.REFUSAL_REASON_NOTHING_MATCHES_FILTER)
    assert end.WhichOneof("event") == "done"


@pytest.mark.parametrize("leg", ["vector", "keyword"])
async def test_while_a_leg_is_missing_low_confidence_is_unavailable_and_no_refusal(leg: str) -> None:
    async with house(page(best_cosine=None if leg == "vector" else 0.1, degraded=[leg])) as it:
        code, _, said = await it.refused(request())
    assert code is grpc.StatusCode.UNAVAILABLE
    assert REFUSAL not in said


async def test_what_search_skipped_is_told_in_the_end() -> None:
    async with house(page(degraded=["ranking", "keyword"])) as it:
        events = await it.events()
    assert list(events[-1].done.degraded) == ["keyword", "ranking"]


async def test_a_refusal_by_the_model_voids_the_sources_and_stops_it() -> None:
    gone = asyncio.Event()

    async def refuses(reply: Reply) -> None:
        await reply.begin()
        await reply.text(REFUSAL[:20], REFUSAL[20:] + " However [1]")
        await reply.caller_gone()
        gone.set()

    async with house(script=refuses) as it:
        events = await it.events()
        await asyncio.wait_for(gone.wait(), 5)
    assert kinds(events) == ["sources", "refusal", "done"]
    assert events[1].refusal.reason == pb.REFUSAL_REASON_GENERATOR_REFUSED
    assert events[2].done.finish_reason == pb.FINISH_REASON_REFUSAL


async def test_a_refusal_by_the_model_tells_the_tokens_it_took() -> None:
    async with house(script=writes(REFUSAL)) as it:
        events = await it.events()
    assert kinds(events) == ["sources", "refusal", "done"]
    assert (events[2].done.usage.prompt_tokens, events[2].done.usage.completion_tokens) == (12, 3)


async def test_general_knowledge_is_labelled_and_searches_nothing() -> None:
    async with house(script=writes("It is blue [Source 1].")) as it:
        events = await it.events(request(mode=pb.MODE_GENERAL_KNOWLEDGE, search=False))
        described = await it.stub.DescribeGenerator(pb.DescribeGeneratorRequest(), timeout=5)
    assert set(kinds(events)) == {"delta", "done"}
    assert text_of(events) == "It is blue."
    assert {event.mode for event in events} == {pb.MODE_GENERAL_KNOWLEDGE}
    assert not events[-1].done.HasField("confidence")
    assert not events[-1].done.HasField("generation")
    assert it.search.requests == []
    assert (described.generator, described.general_knowledge, described.context_tokens) == ("fake-model", True, 4096)


async def test_general_knowledge_without_a_language_model_names_what_is_missing() -> None:
    async with house() as it:
        refused = await it.refused(request(mode=pb.MODE_GENERAL_KNOWLEDGE))
    said = "no language model is configured; start with LLM_URL=... LLM_MODEL=..."
    assert refused == (grpc.StatusCode.INVALID_ARGUMENT, "mode", said)


async def test_general_knowledge_can_be_forbidden() -> None:
    async with house(script=writes("never")) as it:
        asked = request(mode=pb.MODE_GENERAL_KNOWLEDGE, settings__general_knowledge_allowed=False)
        assert (await it.refused(asked))[0] is grpc.StatusCode.PERMISSION_DENIED
        assert it.model.bodies == []


async def test_an_answer_cut_at_its_limit_says_so() -> None:
    async with house(script=writes("The ", "end", finish_reason="length")) as it:
        events = await it.events()
    assert text_of(events) == "The end"
    assert events[-1].done.finish_reason == pb.FINISH_REASON_LENGTH


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"question": " \n"}, "question"),
        ({"question": "x" * 10_001}, "question"),
        ({"mode": 9}, "mode"),
        ({"max_tokens": 4097}, "max_tokens"),
        ({"temperature": 2.1}, "temperature"),
        ({"temperature": float("nan")}, "temperature"),
        ({"search": False}, "search"),
        ({"settings__refusal_sentence": " "}, "settings.refusal_sentence"),
        ({"settings__nothing_matches_sentence": ""}, "settings.nothing_matches_sentence"),
        ({"settings__max_passage_tokens": 99}, "settings.max_passage_tokens"),
        ({"settings__min_confidence": 1.5}, "settings.min_confidence"),
    ],
)
async def test_a_value_out_of_bounds_is_named(changes: dict[str, Any], field: str) -> None:
    async with house() as it:
        code, named, _ = await it.refused(request(**changes))
    assert (code, named) == (grpc.StatusCode.INVALID_ARGUMENT, field)


async def test_a_search_without_vectors_cannot_be_judged() -> None:
    asked = request()
    asked.search.mode = search_pb2.MODE_KEYWORD
    async with house() as it:
        assert (await it.refused(asked))[1] == "search.mode"


@pytest.mark.parametrize(
    ("error", "code", "field"),
    [
        (NotFound("no collection weather"), grpc.StatusCode.NOT_FOUND, None),
        (InvalidInput("no such field", field="filter.field"), grpc.StatusCode.INVALID_ARGUMENT, "filter.field"),
        (InvalidInput("no words", field="query"), grpc.StatusCode.INVALID_ARGUMENT, "question"),
        (DependencyUnavailable("the index is away"), grpc.StatusCode.UNAVAILABLE, None),
    ],
)
async def test_what_search_refuses_is_the_answers_status(
    error: Exception, code: grpc.StatusCode, field: str | None
) -> None:
    async with house(error) as it:
        assert (await it.refused(request()))[:2] == (code, field)


async def closes_in_mid_word(reply: Reply) -> None:
    await reply.begin()
    await reply.text("The sk")


async def sends_a_malformed_chunk(reply: Reply) -> None:
    await reply.begin()
    await reply.text("Well, ")
    await reply.event('{"choices": [')


async def hangs(reply: Reply) -> None:
    await reply.caller_gone()


@pytest.mark.parametrize(
    ("script", "text"),
    [
        (lambda reply: reply.fail(500), ""),
        (hangs, ""),
        (closes_in_mid_word, "The sk"),
        (sends_a_malformed_chunk, "Well,"),
    ],
    ids=["500", "hangs", "closes in mid-word", "malformed chunk"],
)
async def test_a_failing_model_ends_the_answer_in_one_event_and_the_sources_stay(script: Script, text: str) -> None:
    async with house(script=script, llm_first_token_timeout_s=0.3) as it:
        events = await it.events()
        assert kinds(events) == ["sources", *(["delta"] if text else []), "failure"]
        assert text_of(events) == text
        assert events[-1].failure.code == "UNAVAILABLE"
        assert "secret" not in events[-1].failure.message
        assert it.count("answers_total", mode="documents", outcome="failed") == 1


async def test_a_collection_may_let_sentences_be_quoted_when_the_model_fails() -> None:
    async with house(script=lambda reply: reply.fail(503)) as it:
        events = await it.events(request(settings__fall_back_to_extractive=True))
        assert text_of(events).startswith("The sky is blue at noon. [Source 1]")
        assert (events[-1].done.generator, list(events[-1].done.degraded)) == ("extractive", ["generator"])
        assert it.count("fallbacks_total") == 1


async def test_a_model_that_outlasts_the_callers_deadline_ends_in_an_event_before_it() -> None:
    async def drips(reply: Reply) -> None:
        await reply.begin()
        await reply.text("Well, ")
        await reply.caller_gone()

    async with house(script=drips) as it:
        events = await it.events(timeout_s=1.0)
    assert kinds(events) == ["sources", "delta", "failure"]
    assert events[-1].failure.code == "DEADLINE_EXCEEDED"


async def test_a_caller_that_goes_away_stops_the_model_at_once() -> None:
    gone = asyncio.Event()

    async def endless(reply: Reply) -> None:
        await reply.begin()
        await reply.text("Well, ")
        await reply.caller_gone()
        gone.set()

    async with house(script=endless) as it:
        call = it.stub.Answer(request(), timeout=30)
        async for event in call:
            if event.WhichOneof("event") == "delta":
                break
        started = time.monotonic()
        call.cancel()
        await gone.wait()
        assert time.monotonic() - started < 1
        await asyncio.wait_for(_until(lambda: it.count("answers_total", mode="documents", outcome="cancelled") == 1), 5)


async def _until(condition: Any) -> None:
    while not condition():
        await asyncio.sleep(0)


async def test_series_exist_at_zero_and_count() -> None:
    async with house(script=writes("Blue at noon [1]. Green 5 [2] [Source 9].")) as it:
        for outcome in ("answered", "refused", "failed", "cancelled"):
            assert it.count("answers_total", mode="general_knowledge", outcome=outcome) == 0
        assert it.count("refusals_total", reason="generator_refused") == 0
        assert it.count("generator_tokens_total", kind="prompt") == 0
        await it.events()
        it.search.outcome = page(best_cosine=0.1)
        await it.events()
        assert it.count("answers_total", mode="documents", outcome="answered") == 1
        assert it.count("answers_total", mode="documents", outcome="refused") == 1
        assert it.count("refusals_total", reason="low_confidence") == 1
        assert it.count("confidence_count") == 2
        assert it.count("confidence_bucket", le="0.1") == 1
        assert it.count("citations_total") == 2
        assert it.count("unsupported_total") == 1
        assert it.count("dropped_markers_total") == 1
        assert it.count("generator_tokens_total", kind="completion") == 3
        assert it.count("first_token_seconds_count") == 1
        assert it.count("rpc_requests_total", method="Answer", code="OK") == 2


async def test_the_trace_of_an_answer_reaches_search_and_embedding() -> None:
    async with house() as it:
        await it.events()
    spans = {span.name: span for span in it.telemetry.spans()}
    answer = spans["plumbline.answer.v1.AnswerService/Answer"]
    for called in ("plumbline.search.v1.SearchService/Search", "plumbline.embedding.v1.EmbeddingService/Embed"):
        assert spans[called].parent.span_id == answer.context.span_id


async def test_it_serves_once_search_does() -> None:
    async with house() as it:
        health = health_pb2_grpc.HealthStub(it.channel)
        asked = health_pb2.HealthCheckRequest(service="plumbline.answer.v1.AnswerService")
        assert (await health.Check(asked, timeout=5)).status == health_pb2.HealthCheckResponse.SERVING
        assert it.count("client_requests_total", peer="search", method="Check", code="OK") == 1
