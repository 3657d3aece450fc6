"""The events of an answer folded into one object."""

from collections.abc import AsyncIterator
from typing import Any

from services.gateway.bodies.answers import (
    Answer,
    AnswerEvent,
    Citation,
    CitationEvent,
    DeltaEvent,
    DoneEvent,
    RefusalEvent,
    SourcesEvent,
    Unsupported,
    UnsupportedEvent,
)
from services.shared.runtime.errors import Internal


async def whole_answer(events: AsyncIterator[AnswerEvent]) -> Answer:
    """The answer that `events` tell. A refusal voids the sources and citations that were sent before it.

    Raises what `events` raises, and Internal when they end without `done`.
    """
    told: dict[str, Any] = {"refused": False, "sources": [], "citations": [], "unsupported": []}
    text: list[str] = []
    answer: Answer | None = None
    async for event in events:  # to their very end: a stream that is left early counts as cancelled
        match event:
            case SourcesEvent():
                told["sources"] = event.sources
            case DeltaEvent():
                text.append(event.text)
            case CitationEvent():
                told["citations"].append(Citation(**event.model_dump(exclude={"mode"})))
            case UnsupportedEvent():
                told["unsupported"].append(Unsupported(**event.model_dump(exclude={"mode"})))
            case RefusalEvent():
                text = [event.text]
                told = {"refused": True, "refusal_reason": event.reason}
                told |= {"sources": [], "citations": [], "unsupported": []}
            case DoneEvent():
                done = event.model_dump(exclude={"dropped_markers"})
                answer = Answer(text="".join(text), **told, **done)
    if answer is None:
        raise Internal("an answer ended without its end")
    return answer
