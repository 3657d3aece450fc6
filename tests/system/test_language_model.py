"""Answers by a language model through the whole stack: cited, refused by the model, from general knowledge."""

import asyncio
import threading
from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from tests.fakes.openai_server import FakeLanguageModelServer, Reply, serving_language_model
from tests.system.conftest import Stack, running_stack
from tests.system.test_main_job import REFUSAL


@dataclass(frozen=True, slots=True)
class Asked:
    """A stack whose answers a scripted server writes."""

    stack: Stack
    server: FakeLanguageModelServer

    def answer(self, question: str, *pieces: str, **body: object) -> dict[str, object]:
        """The answer when the server writes these pieces."""

        async def script(reply: Reply) -> None:
            await reply.begin()
            await reply.text(*pieces, finish_reason="stop")
            await reply.end()

        self.server.script = script
        asked = {"collection": "birds", "question": question, "stream": False, **body}
        response = self.stack.http.post("/v1/answers", json=asked)
        assert response.status_code == 200, response.text
        return response.json()


@pytest.fixture(scope="module")
def asked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Asked]:
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()

    async def unscripted(reply: Reply) -> None:
        await reply.fail(500)

    serving = serving_language_model(unscripted)
    server = asyncio.run_coroutine_threadsafe(serving.__aenter__(), loop).result(10)
    try:
        with running_stack(tmp_path_factory.mktemp("llm"), LLM_URL=server.url, LLM_MODEL="scripted") as stack:
            stack.http.post("/v1/collections", json={"name": "birds", "profile": "docs", "locale": "en"})
            stack.put("birds", {"id": "heron", "text": "Herons stand in shallow water and wait for fish."})
            yield Asked(stack, server)
    finally:
        asyncio.run_coroutine_threadsafe(serving.__aexit__(None, None, None), loop).result(10)
        loop.call_soon_threadsafe(loop.stop)
        thread.join(10)
        loop.close()


def test_a_marker_cut_over_pieces_cites_its_source(asked: Asked) -> None:
    answer = asked.answer("Where do herons stand?", "Herons stand in shallow water [Sou", "rce 1].")
    assert (answer["text"], answer["generator"]) == ("Herons stand in shallow water [Source 1].", "scripted")
    assert [(citation["source"], citation["supported"]) for citation in answer["citations"]] == [(1, True)]
    assert answer["sources"][0]["document_id"] == "heron"


def test_a_model_that_begins_with_the_sentence_has_refused(asked: Asked) -> None:
    answer = asked.answer("Where do herons stand?", REFUSAL[:20], REFUSAL[20:], " But I think in trees [Source 1].")
    assert (answer["text"], answer["refused"], answer["refusal_reason"]) == (REFUSAL, True, "generator_refused")
    assert (answer["sources"], answer["citations"]) == ([], [])


def test_after_consent_general_knowledge_has_no_sources_and_says_what_it_is(asked: Asked) -> None:
    answer = asked.answer("How tall is Everest?", "About 8,849 metres [Source 1].", mode="GENERAL_KNOWLEDGE")
    assert (answer["mode"], answer["sources"], answer["citations"]) == ("GENERAL_KNOWLEDGE", [], [])
    assert answer["text"].startswith("About 8,849 metres")
    assert "[Source" not in answer["text"]
    prompt = str(asked.server.bodies[-1]["messages"])
    assert "Herons" not in prompt, "general knowledge looks nothing up"


def test_a_server_that_fails_ends_the_stream_after_its_sources(asked: Asked) -> None:
    async def fails(reply: Reply) -> None:
        await reply.fail(500)

    asked.server.script = fails
    events = asked.stack.events("birds", "Where do herons stand?")
    assert [name for name, _ in events] == ["sources", "error"]
    assert "secret detail" not in str(events)


def test_status_names_the_model(asked: Asked) -> None:
    assert asked.stack.status()["generator"]["name"] == "scripted"
