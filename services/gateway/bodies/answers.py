"""`POST /v1/answers`: the question, the events of the stream, and the whole answer as one object."""

from typing import Annotated, Literal, TypeAlias

from pydantic import BaseModel, Field

from services.gateway.bodies.absent import Absent
from services.gateway.bodies.filters import FilterJson
from services.gateway.bodies.search import GenerationRef, RankingOverrides, RetrievalOverrides
from services.gateway.bodies.strict import Body, CollectionName, Question
from services.gateway.problems import Problem
from services.shared.catalog.collection_settings import Locale

Mode: TypeAlias = Literal["DOCUMENTS", "GENERAL_KNOWLEDGE"]


class AnswerBody(Body):
    """A question. GENERAL_KNOWLEDGE answers without documents, after a refusal and the asker's consent."""

    collection: CollectionName
    question: Question
    filter: FilterJson = None
    locale: Locale | None = None
    mode: Mode = "DOCUMENTS"
    stream: bool = True
    max_tokens: Annotated[int, Field(ge=1, le=4096)] = 500
    retrieval: RetrievalOverrides = RetrievalOverrides()
    ranking: RankingOverrides = RankingOverrides()


class Source(BaseModel):
    """A numbered passage that the answer may cite."""

    number: int
    document_id: str
    chunk_ids: list[str]
    pages: Absent[list[int]] = None
    title: str
    uri: str | None
    heading_path: list[str]
    text: str


class Citation(BaseModel):
    """A marker resolved; `start` and `end` are code points of the cited sentence in the answer."""

    source: int
    start: int
    end: int
    support: float
    supported: bool


class Unsupported(BaseModel):
    """A cited sentence that its passage does not bear out: `number`, `name`, `negation` or `meaning` differs."""

    source: int
    start: int
    end: int
    reasons: list[str]


class Usage(BaseModel):
    """Tokens; 0 for a generator that has none."""

    prompt_tokens: int
    completion_tokens: int


class AnswerTimings(BaseModel):
    """Milliseconds from the start of the call; 0 when it did not happen."""

    search: float
    first_token: float
    generate: float
    total: float


class Event(BaseModel):
    """What every event of the stream says."""

    mode: Mode


class SourcesEvent(Event):
    """The passages, before any text."""

    sources: list[Source]
    generation: GenerationRef


class DeltaEvent(Event):
    """A piece of the answer."""

    text: str


class CitationEvent(Event, Citation):
    """A marker was resolved."""


class UnsupportedEvent(Event, Unsupported):
    """A cited sentence is not borne out."""


RefusalReason: TypeAlias = Literal["low_confidence", "nothing_matches_filter", "generator_refused"]
FinishReason: TypeAlias = Literal["stop", "length", "refusal"]


class RefusalEvent(Event):
    """The refusal sentence; sources that were sent before are void."""

    text: str
    reason: RefusalReason


class DoneEvent(Event):
    """The end of an answer."""

    request_id: str
    finish_reason: FinishReason
    confidence: float | None
    calibration: str
    generator: str
    usage: Usage
    timings_ms: AnswerTimings
    generation: GenerationRef | None
    degraded: list[str]
    dropped_markers: int


class ErrorEvent(Event, Problem):
    """The end of an answer that could not be finished; what was sent stays valid."""


AnswerEvent: TypeAlias = SourcesEvent | DeltaEvent | CitationEvent | UnsupportedEvent | RefusalEvent | DoneEvent
EVENT_NAMES: dict[type[Event], str] = {
    SourcesEvent: "sources",
    DeltaEvent: "delta",
    CitationEvent: "citation",
    UnsupportedEvent: "unsupported",
    RefusalEvent: "refusal",
    DoneEvent: "done",
    ErrorEvent: "error",
}


class Answer(BaseModel):
    """A whole answer. After a refusal `text` is the refusal sentence, and there are no sources."""

    request_id: str
    generation: GenerationRef | None
    mode: Mode
    text: str
    refused: bool
    refusal_reason: Absent[RefusalReason] = None
    sources: list[Source]
    citations: list[Citation]
    unsupported: list[Unsupported]
    confidence: float | None
    calibration: str
    generator: str
    finish_reason: FinishReason
    usage: Usage
    timings_ms: AnswerTimings
    degraded: list[str]
