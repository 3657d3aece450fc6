"""Values of the answer service's domain with defaults, for tests that care about one or two of their fields."""

from typing import Any

from services.answer.domain.context import Source
from services.answer.domain.found import Evidence, Found, Generation, Hit
from services.answer.domain.question import AnswerPolicy, Mode, Question

REFUSAL = "The provided document does not contain enough information to answer this question."
NOTHING = "There is no such lesson."


def hit(number: int = 0, text: str = "Some text.", **fields: Any) -> Hit:
    """Chunk `c<number>`, the `number`-th of document `d`; by default chunks touch each other."""
    start = fields.pop("start", number * 1000)
    defaults: dict[str, Any] = {
        "chunk_id": f"c{number}",
        "document_id": "d",
        "title": "",
        "uri": "",
        "heading_path": (),
        "pages": (),
        "ordinal": number,
        "tokens": 10,
        "locale": "en",
        "metadata": {},
    }
    return Hit(text=text, start=start, end=start + len(text), **(defaults | fields))


def source(number: int = 1, text: str = "Some text.", **fields: Any) -> Source:
    """A source of document `d<number>`."""
    defaults: dict[str, Any] = {
        "document_id": f"d{number}",
        "chunk_ids": (f"c{number}",),
        "pages": (),
        "title": "",
        "uri": "",
        "heading_path": (),
        "locale": "en",
    }
    return Source(number=number, text=text, start=0, end=len(text), **(defaults | fields))


def policy(**fields: Any) -> AnswerPolicy:
    """General knowledge allowed, nothing else special."""
    defaults: dict[str, Any] = {
        "refusal_sentence": REFUSAL,
        "nothing_matches_sentence": NOTHING,
        "general_knowledge_allowed": True,
        "same_field": "",
        "fall_back_to_extractive": False,
        "max_passage_tokens": 2500,
        "min_confidence": None,
    }
    return AnswerPolicy(**(defaults | fields))


def question(
    text: str = "What is it?", *, mode: Mode = Mode.DOCUMENTS, filtered: bool = False, **fields: Any
) -> Question:
    """A question with a policy of `fields`."""
    return Question(
        text=text,
        mode=mode,
        max_tokens=500,
        temperature=0.1,
        policy=policy(**fields),
        search=b"",
        filtered=filtered,
        locale="en",
    )


def found(*hits: Hit, best_cosine: float | None = 0.8, degraded: tuple[str, ...] = (), **evidence: Any) -> Found:
    """A search that found `hits`."""
    defaults: dict[str, Any] = {"model": "all-MiniLM-L6-v2", "best_cosine": best_cosine, "matching_chunks": None}
    return Found(hits, Evidence(**(defaults | evidence)), Generation("g1", 7), frozenset(degraded))
