"""The language model's adapter against a real socket: what it sends, what it reads, and every way a server fails."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager
from dataclasses import replace

import pytest

from services.answer.adapters.openai_generator import OpenAIGenerator, Patience
from services.answer.domain.found import Generation
from services.answer.events import FinishReason, Usage
from services.answer.ports import Assignment, Ended, Writing, Written
from services.shared.runtime.call import new_call, serving
from services.shared.runtime.errors import DeadlineExceeded, DependencyUnavailable, InvalidInput, Overloaded
from tests.fakes.answer_values import REFUSAL, source
from tests.fakes.openai_server import FakeLanguageModelServer, Reply, Script, serving_language_model

SOURCE = source(1, "The sky is blue.")
ASSIGNMENT = Assignment("Is it blue?", "en", (SOURCE,), Generation("g1", 7), "m", REFUSAL, 300, 0.3)
PATIENCE = Patience(connect_s=5, first_token_s=5, next_token_s=5)


@asynccontextmanager
async def generator(
    script: Script, *, patience: Patience = PATIENCE, context_tokens: int = 4096
) -> AsyncIterator[tuple[OpenAIGenerator, FakeLanguageModelServer]]:
    async with serving_language_model(script) as server:
        model = OpenAIGenerator(
            url=f"{server.url}/v1", model="fake", api_key="s3cret", context_tokens=context_tokens, patience=patience
        )
        try:
            yield model, server
        finally:
            await model.close()


async def written(script: Script, *, patience: Patience = PATIENCE) -> list[Writing]:
    async with generator(script, patience=patience) as (model, _):
        return [part async for part in model.write(ASSIGNMENT)]


async def says_yes(reply: Reply) -> None:
    await reply.begin()
    await reply.text("Yes, ", "it is.", finish_reason="stop")
    await reply.end()


async def hangs(reply: Reply) -> None:
    await reply.caller_gone()


async def test_text_arrives_as_it_is_written_then_the_end_with_its_usage() -> None:
    assert await written(says_yes) == [
        Written("Yes, "),
        Written("it is."),
        Ended(FinishReason.STOP, Usage(12, 3)),
    ]


async def test_the_request_streams_within_its_limits() -> None:
    async with generator(says_yes) as (model, server):
        _ = [part async for part in model.write(ASSIGNMENT)]
    (body,) = server.bodies
    assert (body["model"], body["max_tokens"], body["temperature"], body["stream"]) == ("fake", 300, 0.3, True)
    assert body["stream_options"] == {"include_usage": True}
    assert server.headers[0]["authorization"] == "Bearer s3cret"
    system, user = body["messages"]
    assert (system["role"], user["role"]) == ("system", "user")
    assert REFUSAL in system["content"]
    assert "The sky is blue." in user["content"]


async def test_every_call_has_a_key_of_its_own() -> None:
    async with generator(says_yes) as (model, server):
        for _ in range(2):
            _ = [part async for part in model.write(ASSIGNMENT)]
    one, other = (body["messages"][1]["content"] for body in server.bodies)
    assert one != other


async def test_without_a_generation_general_knowledge_is_asked_for() -> None:
    async with generator(says_yes) as (model, server):
        _ = [part async for part in model.write(replace(ASSIGNMENT, sources=(), generation=None))]
    assert "general knowledge" in server.bodies[0]["messages"][0]["content"]


async def test_text_beside_the_finish_reason_is_shown_and_a_chunk_without_choices_is_no_harm() -> None:
    async def cut(reply: Reply) -> None:
        await reply.begin()
        await reply.text("the ", "end", finish_reason="length")
        await reply.end()

    assert await written(cut) == [Written("the "), Written("end"), Ended(FinishReason.LENGTH, Usage(12, 3))]


async def test_a_server_without_usage_is_no_harm() -> None:
    async def no_usage(reply: Reply) -> None:
        await reply.begin()
        await reply.chunk(choices=[{"index": 0, "delta": {"role": "assistant"}, "finish_reason": None}])
        await reply.text("Yes.", finish_reason="stop")
        await reply.event("[DONE]")
        await reply.send_bytes(b"0\r\n\r\n")

    assert await written(no_usage) == [Written("Yes."), Ended(FinishReason.STOP, Usage())]


async def test_characters_come_whole_however_the_bytes_are_cut() -> None:
    line = 'data: {"choices":[{"index":0,"delta":{"content":"ďábelské 🌶 กำ"},"finish_reason":"stop"}]}\n\n'.encode()

    async def byte_by_byte(reply: Reply) -> None:
        await reply.begin()
        for byte in line:
            await reply.send_bytes(b"1\r\n" + bytes([byte]) + b"\r\n")
        await reply.end()

    assert (await written(byte_by_byte))[0] == Written("ďábelské 🌶 กำ")


async def test_halves_of_a_character_are_joined_and_a_lone_half_is_dropped() -> None:
    async def halves(reply: Reply) -> None:
        await reply.begin()
        await reply.text("hot \ud83c", "\udf36!", " \ud83c", "x", finish_reason="stop")
        await reply.end()

    texts = [part.text for part in await written(halves) if isinstance(part, Written)]
    assert "".join(texts) == "hot 🌶! x"


@pytest.mark.parametrize(
    ("status", "error", "said"),
    [
        (500, DependencyUnavailable, "status 500"),
        (503, DependencyUnavailable, "status 503"),
        (404, DependencyUnavailable, "check LLM_URL, LLM_MODEL and LLM_API_KEY"),
        (401, DependencyUnavailable, "check LLM_URL"),
        (429, Overloaded, "no room"),
    ],
)
async def test_a_refused_call_is_named_without_the_servers_own_words(
    status: int, error: type[Exception], said: str
) -> None:
    with pytest.raises(error, match=said) as failure:
        await written(lambda reply: reply.fail(status))
    assert "secret" not in str(failure.value)


async def test_a_call_is_not_tried_again() -> None:
    async with generator(lambda reply: reply.fail(500)) as (model, server):
        with pytest.raises(DependencyUnavailable):
            _ = [part async for part in model.write(ASSIGNMENT)]
    assert len(server.bodies) == 1


async def test_nobody_at_the_address_is_unavailable() -> None:
    async with generator(says_yes) as (model, server):
        pass
    model = OpenAIGenerator(url=server.url, model="fake", api_key="k", context_tokens=4096, patience=PATIENCE)
    with pytest.raises(DependencyUnavailable, match="connection to the language model failed"):
        _ = [part async for part in model.write(ASSIGNMENT)]
    await model.close()


async def test_a_connection_that_closes_in_mid_word_fails_after_the_text_it_gave() -> None:
    async def closes(reply: Reply) -> None:
        await reply.begin()
        await reply.text("The sk")

    async with generator(closes) as (model, _):
        writing = model.write(ASSIGNMENT)
        assert await anext(writing) == Written("The sk")
        with pytest.raises(DependencyUnavailable):
            await anext(writing)


@pytest.mark.parametrize(
    "data",
    ["{not json", "5", "[]", '"text"', '{"choices": 5}', '{"choices": [5]}', '{"choices": [{"index": 0}]}',
     '{"choices": [{"delta": {"content": 5}}]}', '{"choices": [{"delta": "x"}]}', '{"error": {"message": "secret"}}'],
)  # fmt: skip
async def test_a_malformed_chunk_fails(data: str) -> None:
    async def malformed(reply: Reply) -> None:
        await reply.begin()
        await reply.event(data)
        await reply.text("more", finish_reason="stop")
        await reply.end()

    with pytest.raises(DependencyUnavailable) as failure:
        await written(malformed)
    assert "secret" not in str(failure.value)


async def test_a_stream_without_a_finish_is_broken_off() -> None:
    async def ends(reply: Reply) -> None:
        await reply.begin()
        await reply.text("The sky")
        await reply.end()

    with pytest.raises(DependencyUnavailable, match="broke off"):
        await written(ends)


async def test_a_model_that_writes_nothing_fails() -> None:
    async def nothing(reply: Reply) -> None:
        await reply.begin()
        await reply.text("", finish_reason="stop")
        await reply.end()

    with pytest.raises(DependencyUnavailable, match="wrote nothing"):
        await written(nothing)


async def begins_then_hangs(reply: Reply) -> None:
    await reply.begin()
    await reply.caller_gone()


async def writes_then_hangs(reply: Reply) -> None:
    await reply.begin()
    await reply.text("The")
    await reply.caller_gone()


@pytest.mark.parametrize(
    ("script", "patience"),
    [
        (hangs, replace(PATIENCE, first_token_s=0.05)),
        (begins_then_hangs, replace(PATIENCE, first_token_s=0.05)),
        (writes_then_hangs, replace(PATIENCE, next_token_s=0.05)),
    ],
    ids=["before its headers", "before its first token", "between tokens"],
)
async def test_each_phase_has_its_own_patience(script: Script, patience: Patience) -> None:
    with pytest.raises(DependencyUnavailable, match="fell silent"):
        await written(script, patience=patience)


async def test_the_calls_own_deadline_comes_first_and_is_told_apart() -> None:
    with serving(new_call(0.1)), pytest.raises(DeadlineExceeded):
        await written(writes_then_hangs)


@pytest.mark.parametrize("script", [hangs, begins_then_hangs, writes_then_hangs])
async def test_closing_or_cancelling_closes_the_connection_at_once(script: Script) -> None:
    begun, gone = asyncio.Event(), asyncio.Event()

    async def watched(reply: Reply) -> None:
        begun.set()
        await script(reply)
        gone.set()

    async with generator(watched) as (model, _):

        async def write() -> None:
            async with aclosing(model.write(ASSIGNMENT)) as writing:
                async for _part in writing:
                    pass

        task = asyncio.create_task(write())
        await begun.wait()
        started = time.monotonic()
        task.cancel()
        await gone.wait()
        assert time.monotonic() - started < 1
        with pytest.raises(asyncio.CancelledError):
            await task


async def test_closing_after_some_text_closes_the_connection() -> None:
    gone = asyncio.Event()

    async def watched(reply: Reply) -> None:
        await writes_then_hangs(reply)
        gone.set()

    async with generator(watched) as (model, _):
        writing = model.write(ASSIGNMENT)
        assert await anext(writing) == Written("The")
        await writing.aclose()
        await gone.wait()


def fitted(context_tokens: int, *texts: str) -> list[str]:
    model = OpenAIGenerator(
        url="http://llm/v1", model="fake", api_key="k", context_tokens=context_tokens, patience=PATIENCE
    )
    sources = tuple(source(number, text) for number, text in enumerate(texts, start=1))
    return [one.text for one in model.fitted(replace(ASSIGNMENT, sources=sources)).sources]


def test_the_lowest_sources_are_dropped_until_the_prompt_fits() -> None:
    first, second, third = "a" * 3000, "b" * 3000, "c" * 3000  # 1,000 tokens each
    assert fitted(4000, first, second, third) == [first, second, third]
    assert fitted(3000, first, second, third) == [first, second]
    assert fitted(2000, first, second, third) == [first]


def test_a_context_that_holds_no_source_is_told_before_anything_is_sent() -> None:
    with pytest.raises(InvalidInput, match="holds 900 tokens") as failure:
        fitted(900, "a" * 3000)
    assert failure.value.field == "max_tokens"
