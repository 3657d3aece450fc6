"""Answers from a language model behind an OpenAI-compatible API (vLLM and others), streamed."""

import asyncio
import secrets
import time
from collections.abc import AsyncGenerator, Awaitable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import openai
import structlog
from openai.types.chat import ChatCompletionChunk

from services.answer.domain.prompt import Prompt, documents_prompt, fits, general_knowledge_prompt
from services.answer.events import FinishReason, Usage
from services.answer.ports import Assignment, Ended, Writing, Written
from services.shared.runtime.call import current_call
from services.shared.runtime.errors import DeadlineExceeded, DependencyUnavailable, InvalidInput, Overloaded

# Kept back from the call's deadline, so that its end still reaches the caller as an event.
_DEADLINE_MARGIN_S = 0.05
# When a full server may have room again and says nothing of it itself: about one short answer.
_RETRY_AFTER_S = 2.0
_NONCE_BYTES = 8
_SERVER_ERRORS = 500  # statuses from here on are no fault of the call

log = structlog.get_logger()

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Patience:
    """How long each phase may take, seconds: to connect, to the first token, from one token to the next."""

    connect_s: float
    first_token_s: float
    next_token_s: float


class OpenAIGenerator:
    """One language model; a failed call is not tried again."""

    def __init__(self, *, url: str, model: str, api_key: str, context_tokens: int, patience: Patience) -> None:
        self.name = model
        self.context_tokens = context_tokens
        self._patience = patience
        self._client = openai.AsyncOpenAI(
            base_url=url,
            api_key=api_key,
            max_retries=0,
            timeout=openai.Timeout(None, connect=patience.connect_s),  # the other phases are timed in `write`
        )

    def fitted(self, assignment: Assignment) -> Assignment:
        """See `Generator`."""
        while not fits(
            _prompt(assignment, nonce="0" * 2 * _NONCE_BYTES),
            max_tokens=assignment.max_tokens,
            context_tokens=self.context_tokens,
        ):
            if len(assignment.sources) <= 1:
                raise InvalidInput(
                    f"the language model holds {self.context_tokens} tokens: too few for this question, a passage and "
                    f"an answer of {assignment.max_tokens} tokens; ask shorter, or for a shorter answer",
                    field="max_tokens",
                )
            assignment = replace(assignment, sources=assignment.sources[:-1])
        return assignment

    async def write(self, assignment: Assignment) -> AsyncGenerator[Writing, None]:
        """See `Generator`."""
        call = self._call(assignment)
        by = time.monotonic() + self._patience.first_token_s
        whole, wrote = _WholeCharacters(), False
        finish_reason: FinishReason | None = None
        usage = Usage()
        with _errors_of_the_model():
            stream = await _before(by, self._client.chat.completions.create(**call))
            async with stream:  # leaving it closes the connection, at which a server stops generating
                while (chunk := await _before(by, anext(stream, None))) is not None:
                    part = _read(chunk)
                    finish_reason, usage = part.finish_reason or finish_reason, part.usage or usage
                    if text := whole.push(part.text):
                        wrote = True
                        yield Written(text)
                    if wrote:
                        by = time.monotonic() + self._patience.next_token_s
        if finish_reason is None:
            raise DependencyUnavailable("the language model's answer broke off")
        if not wrote:
            raise DependencyUnavailable("the language model wrote nothing")
        yield Ended(finish_reason, usage)

    def _call(self, assignment: Assignment) -> dict[str, Any]:
        prompt = _prompt(assignment, nonce=secrets.token_hex(_NONCE_BYTES))
        return {
            "model": self.name,
            "messages": [{"role": "system", "content": prompt.system}, {"role": "user", "content": prompt.user}],
            "max_tokens": assignment.max_tokens,
            "temperature": assignment.temperature,
            "stream": True,
            "stream_options": {"include_usage": True},
        }

    async def close(self) -> None:
        """Close the connections."""
        await self._client.close()


def _prompt(assignment: Assignment, *, nonce: str) -> Prompt:
    if assignment.generation is None:
        return general_knowledge_prompt(assignment.question)
    return documents_prompt(
        assignment.question,
        assignment.sources,
        generation=assignment.generation,
        refusal_sentence=assignment.refusal_sentence,
        nonce=nonce,
    )


async def _before(moment: float, awaitable: Awaitable[T]) -> T:
    """What `awaitable` gives before `moment` of the monotonic clock, and before the call that is served must end."""
    call = current_call()
    end = moment if call is None else min(moment, call.deadline - _DEADLINE_MARGIN_S)
    try:
        async with asyncio.timeout(end - time.monotonic()):
            return await awaitable
    except TimeoutError:
        if end < moment:
            raise DeadlineExceeded("out of time while the language model was writing") from None
        raise DependencyUnavailable("the language model fell silent; try again") from None


@dataclass(frozen=True, slots=True)
class _Part:
    """What one chunk of the stream holds."""

    text: str = ""
    finish_reason: FinishReason | None = None
    usage: Usage | None = None


def _read(chunk: ChatCompletionChunk) -> _Part:
    """The last text may come with the finish reason; the chunk with the usage has no choices."""
    # The client library does not check what it receives: any attribute may be missing or of another type.
    try:
        usage = Usage(chunk.usage.prompt_tokens, chunk.usage.completion_tokens) if chunk.usage else None
        if not chunk.choices:
            return _Part(usage=usage)
        choice = chunk.choices[0]
        text, finished = "" + (choice.delta.content or ""), choice.finish_reason
    except (AttributeError, LookupError, TypeError):
        raise DependencyUnavailable("the language model sent what cannot be read") from None
    if not finished:
        return _Part(text, None, usage)
    return _Part(text, FinishReason.LENGTH if finished == "length" else FinishReason.STOP, usage)


class _WholeCharacters:
    """Joins the halves of surrogate pairs that a server's JSON may cut apart; a half without its other is dropped."""

    def __init__(self) -> None:
        self._half = ""

    def push(self, text: str) -> str:
        """The whole characters up to the end of `text`."""
        text = self._half + text
        self._half = text[-1:] if "\ud800" <= text[-1:] <= "\udbff" else ""
        return text[: len(text) - len(self._half)].encode("utf-16", "surrogatepass").decode("utf-16", "ignore")


@contextmanager
def _errors_of_the_model() -> Iterator[None]:
    """The client library's errors as ours."""
    try:
        yield
    except openai.RateLimitError:
        raise Overloaded("the language model has no room; try again", retry_after_s=_RETRY_AFTER_S) from None
    except openai.APIStatusError as error:
        log.warning("language_model_refused", status=error.status_code)
        hint = "" if error.status_code >= _SERVER_ERRORS else "; check LLM_URL, LLM_MODEL and LLM_API_KEY"
        raise DependencyUnavailable(
            f"the language model's server refused the call with status {error.status_code}{hint}"
        ) from None
    except (openai.APIError, ValueError) as error:  # ValueError: a line of the stream is no JSON
        log.warning("language_model_failed", error=type(error).__name__)
        raise DependencyUnavailable("the connection to the language model failed") from None
