"""The events of one answer, in the order in which a caller may see them."""

from dataclasses import dataclass
from enum import Enum
from typing import TypeAlias

from services.answer.domain.confidence import Confidence
from services.answer.domain.context import Source
from services.answer.domain.found import Generation
from services.answer.domain.refusal import RefusalReason


class FinishReason(Enum):
    """Why the text ended."""

    STOP = "stop"
    LENGTH = "length"
    REFUSAL = "refusal"


@dataclass(frozen=True, slots=True)
class Sources:
    """The passages, before any text."""

    sources: tuple[Source, ...]
    generation: Generation


@dataclass(frozen=True, slots=True)
class Delta:
    """A piece of the answer; markers are `[Source N]`."""

    text: str


@dataclass(frozen=True, slots=True)
class Citation:
    """The sentence at code points `start` to `end` of the answer cites `source`; `support` is in [0, 1]."""

    source: int
    start: int
    end: int
    support: float
    supported: bool


@dataclass(frozen=True, slots=True)
class Unsupported:
    """What in a cited sentence its source does not bear out; follows its citation."""

    source: int
    start: int
    end: int
    reasons: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Refusal:
    """The refusal."""

    text: str
    reason: RefusalReason


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens that a language model read and wrote; 0 without one."""

    prompt_tokens: int = 0
    completion_tokens: int = 0


@dataclass(frozen=True, slots=True)
class Timings:
    """Seconds since the call began; 0 for what did not happen."""

    search_s: float = 0.0
    first_token_s: float = 0.0
    generate_s: float = 0.0
    total_s: float = 0.0


@dataclass(frozen=True, slots=True)
class Done:
    """The end. `confidence` and `generation` are None for general knowledge, `generator` is empty where none wrote."""

    finish_reason: FinishReason
    confidence: Confidence | None
    generator: str
    usage: Usage
    timings: Timings
    generation: Generation | None
    degraded: frozenset[str]
    dropped_markers: int


Event: TypeAlias = Sources | Delta | Citation | Unsupported | Refusal | Done
