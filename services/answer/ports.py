"""What the answer pipeline needs from the outside."""

from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeAlias

from services.answer.domain.context import Source
from services.answer.domain.found import Found, Generation
from services.answer.domain.question import Question
from services.answer.events import FinishReason, Usage


class PassageSearch(Protocol):
    """Finds passages for a question."""

    async def find(self, question: Question) -> Found:
        """Runs the question's search.

        Raises InvalidInput, its field inside the question's search; NotFound; DependencyUnavailable; Overloaded;
        DeadlineExceeded.
        """
        ...


class Similarity(Protocol):
    """Tells how near texts are to a question in meaning."""

    async def cosines(self, question: str, texts: Sequence[str], *, model: str) -> list[float]:
        """The cosine of each text with the question, by the embedding model `model`; of a long text its beginning's.

        Raises DependencyUnavailable, Overloaded, DeadlineExceeded, NotFound when the model is not loaded.
        """
        ...


@dataclass(frozen=True, slots=True)
class Assignment:
    """What a generator has to write: an answer from `sources`, or from general knowledge where there are none.

    `generation` and `model`, the embedding model, belong to the sources. `refusal_sentence` is what a generator writes
    when the sources do not answer.
    """

    question: str
    locale: str
    sources: tuple[Source, ...]
    generation: Generation | None
    model: str
    refusal_sentence: str
    max_tokens: int
    temperature: float


@dataclass(frozen=True, slots=True)
class Written:
    """Text that the generator made up; it may hold markers, in pieces of any length."""

    text: str


@dataclass(frozen=True, slots=True)
class Quoted:
    """A passage's own words, to be shown as they are and cited as `source`."""

    text: str
    source: int


@dataclass(frozen=True, slots=True)
class Ended:
    """The last thing that a generator gives."""

    finish_reason: FinishReason
    usage: Usage


Writing: TypeAlias = Written | Quoted | Ended


class Generator(Protocol):
    """Writes answers."""

    @property
    def name(self) -> str:
        """`extractive`, or the language model's name."""
        ...

    @property
    def context_tokens(self) -> int:
        """Tokens that question, sources and answer may have together; 0 where there is no such limit."""
        ...

    def fitted(self, assignment: Assignment) -> Assignment:
        """The assignment without the lowest sources that do not fit. Raises InvalidInput when not even one fits."""
        ...

    def write(self, assignment: Assignment) -> AsyncGenerator[Writing, None]:
        """The answer as it is written, then Ended. Closing the iterator stops the writing at once.

        Raises DependencyUnavailable, Overloaded, DeadlineExceeded.
        """
        ...
