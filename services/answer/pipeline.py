"""One answer, from the question to its last event."""

import asyncio
import time
from collections.abc import AsyncGenerator, AsyncIterator, Iterator
from contextlib import aclosing
from dataclasses import dataclass, field

from services.answer.domain.citations import AnswerReader, CitedSentence, Piece, Refused, Shown
from services.answer.domain.confidence import Confidence, confidence_of
from services.answer.domain.context import Source, pack_context
from services.answer.domain.found import Found
from services.answer.domain.question import Mode, Question
from services.answer.domain.refusal import RefusalReason, refusal_before_generation, sentence_for
from services.answer.domain.support import check_support
from services.answer.events import (
    Citation,
    Delta,
    Done,
    Event,
    FinishReason,
    Refusal,
    Sources,
    Timings,
    Unsupported,
    Usage,
)
from services.answer.ports import Assignment, Ended, Generator, PassageSearch, Quoted, Writing, Written
from services.shared.runtime.errors import (
    DeadlineExceeded,
    DependencyUnavailable,
    InvalidInput,
    Overloaded,
    PermissionDenied,
)

# About the time in which a restarted embedding service or index serves again.
_LEG_RETRY_S = 2.0
# How long a refusal's end waits for the model's count of tokens, which comes right after its last word.
_USAGE_WAIT_S = 1.0
_NO_USAGE = Usage()
_GENERATOR_REFUSED = RefusalReason.GENERATOR_REFUSED


class AnswerPipeline:
    """Answers questions. Without a `language_model` the `extractive` generator writes, and only from documents."""

    def __init__(self, *, search: PassageSearch, extractive: Generator, language_model: Generator | None) -> None:
        self._search = search
        self._extractive = extractive
        self._language_model = language_model

    @property
    def generator(self) -> Generator:
        """What writes here."""
        return self._language_model or self._extractive

    @property
    def has_language_model(self) -> bool:
        """General knowledge may be asked for."""
        return self._language_model is not None

    async def answer(self, question: Question) -> AsyncGenerator[Event, None]:
        """The events of one answer, in the order that `AnswerService.Answer` promises, without `failure`.

        Closing the iterator stops the generator at once. Raises InvalidInput and PermissionDenied for the mode,
        DependencyUnavailable when a missing leg forbids a refusal, and what search and generator raise.
        """
        progress = _Progress()
        if question.mode is Mode.GENERAL_KNOWLEDGE:
            assignment = self._general_knowledge_assignment(question)
        else:
            found = progress.found = await self._search.find(question)
            progress.search_s = progress.elapsed_s()
            confidence = progress.confidence = confidence_of(found.evidence)
            if reason := _refusal_reason(question, found, confidence):
                yield Refusal(sentence_for(reason, question.policy), reason)
                yield progress.done(FinishReason.REFUSAL)
                return
            assignment = self.generator.fitted(_assignment_from(question, found))
            yield Sources(assignment.sources, found.generation)
        async with aclosing(self._written(question, assignment, progress)) as events:
            async for event in events:
                yield event

    def _general_knowledge_assignment(self, question: Question) -> Assignment:
        if not question.policy.general_knowledge_allowed:
            raise PermissionDenied("this collection answers from its documents only")
        if self._language_model is None:
            raise InvalidInput("no language model is configured; start with LLM_URL=... LLM_MODEL=...", field="mode")
        return self._language_model.fitted(_assignment_from(question, None))

    async def _written(
        self, question: Question, assignment: Assignment, progress: "_Progress"
    ) -> AsyncGenerator[Event, None]:
        """What the generator writes, read for a refusal, for citations and for what they are worth; then the end."""
        refusal_sentence = question.policy.refusal_sentence if question.mode is Mode.DOCUMENTS else None
        reader = AnswerReader(sources=len(assignment.sources), refusal_sentence=refusal_sentence)
        started_s = progress.elapsed_s()
        ended = Ended(FinishReason.STOP, _NO_USAGE)
        async with aclosing(self._writings(question, assignment, progress)) as writings:
            async for writing in writings:
                pieces = _read(reader, writing)
                if Refused() in pieces:
                    yield Refusal(sentence_for(_GENERATOR_REFUSED, question.policy), _GENERATOR_REFUSED)
                    ended = Ended(FinishReason.REFUSAL, await _usage_if_ending(writings))
                    break  # closes the generator: what it would write after that sentence counts for nothing
                for piece in pieces:
                    for event in _events_of(piece, assignment):
                        progress.first_token_s = progress.first_token_s or progress.elapsed_s()
                        yield event
                if isinstance(writing, Ended):
                    ended = writing
        progress.generate_s = progress.elapsed_s() - started_s
        progress.dropped_markers = reader.dropped_markers
        yield progress.done(ended.finish_reason, ended.usage)

    async def _writings(
        self, question: Question, assignment: Assignment, progress: "_Progress"
    ) -> AsyncGenerator[Writing, None]:
        """What the generator writes; quoted sentences where a model fails before its first word and that is allowed."""
        progress.generator = self.generator.name
        may_fall_back = question.policy.fall_back_to_extractive and question.mode is Mode.DOCUMENTS
        try:
            async with aclosing(self.generator.write(assignment)) as writings:
                async for writing in writings:
                    may_fall_back = False
                    yield writing
            return
        except (DependencyUnavailable, Overloaded):
            if not may_fall_back:
                raise
        progress.generator = self._extractive.name
        progress.generator_failed = True
        async with aclosing(self._extractive.write(assignment)) as writings:
            async for writing in writings:
                yield writing


def _refusal_reason(question: Question, found: Found, confidence: Confidence) -> RefusalReason | None:
    """Why to refuse before generating; DependencyUnavailable where a missing leg forbids to say anything."""
    reason = refusal_before_generation(question, found, confidence)
    if reason is RefusalReason.LOW_CONFIDENCE and found.missing_legs:
        raise DependencyUnavailable(
            f"the search lacked its {' and '.join(sorted(found.missing_legs))} leg and found too little; try again",
            retry_after_s=_LEG_RETRY_S,
        )
    return reason


def _assignment_from(question: Question, found: Found | None) -> Assignment:
    policy = question.policy
    sources: tuple[Source, ...] = ()
    if found:
        sources = pack_context(found.hits, same_field=policy.same_field, max_tokens=policy.max_passage_tokens)
    return Assignment(
        question=question.text,
        locale=question.locale,
        sources=sources,
        generation=found.generation if found else None,
        model=found.evidence.model if found else "",
        refusal_sentence=policy.refusal_sentence,
        max_tokens=question.max_tokens,
        temperature=question.temperature,
    )


def _read(reader: AnswerReader, writing: Writing) -> list[Piece]:
    match writing:
        case Written(text):
            return reader.read(text)
        case Quoted(text, source):
            return reader.quote(text, source)
        case Ended():
            return reader.finish()


async def _usage_if_ending(writings: AsyncIterator[Writing]) -> Usage:
    """The usage where the writing ends now; else none is known, since a model counts at its end."""
    try:
        async with asyncio.timeout(_USAGE_WAIT_S):
            async for writing in writings:
                if isinstance(writing, Ended):
                    return writing.usage
                if not (isinstance(writing, Written) and writing.text.isspace()):
                    break
    except (DependencyUnavailable, Overloaded, DeadlineExceeded, TimeoutError):
        pass  # the refusal stands whatever happens after it
    return _NO_USAGE


def _events_of(piece: Piece, assignment: Assignment) -> Iterator[Event]:
    """The text; for a cited sentence a citation for each source and what that source does not bear out."""
    match piece:
        case Shown(text):
            yield Delta(text)
        case CitedSentence():
            cited = {number: assignment.sources[number - 1] for number in piece.sources}
            passages = {number: f"{source.heading}\n{source.text}" for number, source in cited.items()}
            for number, source in cited.items():
                support = check_support(
                    piece.text, passage=passages[number], cited=list(passages.values()), locale=source.locale
                )
                yield Citation(number, piece.start, piece.end, support.score, not support.reasons)
                if support.reasons:
                    yield Unsupported(number, piece.start, piece.end, support.reasons)


@dataclass(slots=True)
class _Progress:
    """What is known of one answer so far: all that its `done` tells. Times are seconds since the call began."""

    found: Found | None = None
    confidence: Confidence | None = None
    generator: str = ""
    generator_failed: bool = False
    dropped_markers: int = 0
    search_s: float = 0.0
    first_token_s: float = 0.0
    generate_s: float = 0.0
    _started: float = field(default_factory=time.perf_counter)

    def elapsed_s(self) -> float:
        """Seconds since the call began."""
        return time.perf_counter() - self._started

    def done(self, finish_reason: FinishReason, usage: Usage = _NO_USAGE) -> Done:
        """The end, now."""
        degraded = self.found.degraded if self.found else frozenset()
        return Done(
            finish_reason=finish_reason,
            confidence=self.confidence,
            generator=self.generator,
            usage=usage,
            timings=Timings(self.search_s, self.first_token_s, self.generate_s, self.elapsed_s()),
            generation=self.found.generation if self.found else None,
            degraded=degraded | {"generator"} if self.generator_failed else degraded,
            dropped_markers=self.dropped_markers,
        )
