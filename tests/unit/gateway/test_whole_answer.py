from collections.abc import AsyncIterator
from typing import Any

import pytest

from services.gateway.bodies.answers import (
    AnswerEvent,
    AnswerTimings,
    CitationEvent,
    DeltaEvent,
    DoneEvent,
    RefusalEvent,
    Source,
    SourcesEvent,
    UnsupportedEvent,
    Usage,
)
from services.gateway.bodies.search import GenerationRef
from services.gateway.whole_answer import whole_answer
from services.shared.runtime.errors import DependencyUnavailable, Internal

MODE: dict[str, Any] = {"mode": "DOCUMENTS"}
GENERATION = GenerationRef(id="g", revision=1)
SOURCE = Source(number=1, document_id="d", chunk_ids=["c"], title="", uri=None, heading_path=[], text="t")
SOURCES = SourcesEvent(**MODE, sources=[SOURCE], generation=GENERATION)
CITATION = CitationEvent(**MODE, source=1, start=0, end=4, support=0.5, supported=True)
UNSUPPORTED = UnsupportedEvent(**MODE, source=1, start=0, end=4, reasons=["number"])


def done(finish_reason: str = "stop") -> DoneEvent:
    return DoneEvent(
        **MODE,
        request_id="r",
        finish_reason=finish_reason,
        confidence=0.5,
        calibration="uncalibrated",
        generator="extractive",
        usage=Usage(prompt_tokens=1, completion_tokens=2),
        timings_ms=AnswerTimings(search=1, first_token=2, generate=3, total=4),
        generation=GENERATION,
        degraded=["generator"],
        dropped_markers=0,
    )


async def told(*events: AnswerEvent | Exception) -> AsyncIterator[AnswerEvent]:
    for event in events:
        if isinstance(event, Exception):
            raise event
        yield event


async def test_text_is_joined_and_every_event_kept() -> None:
    text = DeltaEvent(**MODE, text="a"), DeltaEvent(**MODE, text="b")
    answer = await whole_answer(told(SOURCES, *text, CITATION, UNSUPPORTED, done()))
    assert (answer.text, answer.refused, answer.refusal_reason) == ("ab", False, None)
    assert (answer.sources, len(answer.citations), len(answer.unsupported)) == ([SOURCE], 1, 1)
    assert (answer.degraded, answer.generator, answer.finish_reason) == (["generator"], "extractive", "stop")


async def test_a_refusal_voids_sources_text_and_citations() -> None:
    refusal = RefusalEvent(**MODE, text="No.", reason="generator_refused")
    answer = await whole_answer(told(SOURCES, DeltaEvent(**MODE, text="a"), CITATION, refusal, done("refusal")))
    assert (answer.text, answer.refused, answer.refusal_reason) == ("No.", True, "generator_refused")
    assert (answer.sources, answer.citations, answer.unsupported) == ([], [], [])


async def test_a_failure_is_raised() -> None:
    with pytest.raises(DependencyUnavailable):
        await whole_answer(told(SOURCES, DependencyUnavailable("away")))


async def test_events_without_an_end_are_a_fault() -> None:
    with pytest.raises(Internal):
        await whole_answer(told(SOURCES))


async def test_the_stream_is_read_to_its_end_so_that_its_call_does_not_count_as_cancelled() -> None:
    ended = False

    async def events() -> AsyncIterator[AnswerEvent]:
        nonlocal ended
        yield done()
        ended = True

    await whole_answer(events())
    assert ended
