"""The answer pipeline's ports, scripted."""

from collections.abc import AsyncGenerator, Sequence
from dataclasses import replace

from services.answer.domain.found import Found
from services.answer.domain.question import Question
from services.answer.events import FinishReason, Usage
from services.answer.ports import Assignment, Ended, Writing, Written
from services.shared.runtime.errors import PlumblineError


class FakePassageSearch:
    """Finds what it is told to; keeps the questions."""

    def __init__(self, outcome: Found | PlumblineError) -> None:
        self._outcome = outcome
        self.asked: list[Question] = []

    async def find(self, question: Question) -> Found:
        self.asked.append(question)
        if isinstance(self._outcome, PlumblineError):
            raise self._outcome
        return self._outcome


class FakeSimilarity:
    """Gives the cosines that it is told to; keeps the texts that it was asked about."""

    def __init__(self, outcome: dict[str, float] | PlumblineError) -> None:
        self._outcome = outcome
        self.texts: list[str] = []

    async def cosines(self, question: str, texts: Sequence[str], *, model: str) -> list[float]:
        self.texts += texts
        if isinstance(self._outcome, PlumblineError):
            raise self._outcome
        return [self._outcome.get(text, 0.0) for text in texts]


class FakeGenerator:
    """Writes what it is told to, an error where one stands; tells whether it was stopped before its end.

    It holds at most `holds` sources.
    """

    context_tokens = 1000

    def __init__(self, *script: str | Writing | PlumblineError, name: str = "fake-model", holds: int = 99) -> None:
        self.name = name
        self._script = script
        self._holds = holds
        self.assignments: list[Assignment] = []
        self.stopped = False

    def fitted(self, assignment: Assignment) -> Assignment:
        return replace(assignment, sources=assignment.sources[: self._holds])

    async def write(self, assignment: Assignment) -> AsyncGenerator[Writing, None]:
        self.assignments.append(assignment)
        try:
            for part in self._script:
                if isinstance(part, PlumblineError):
                    raise part
                yield Written(part) if isinstance(part, str) else part
            if not any(isinstance(part, Ended) for part in self._script):
                yield Ended(FinishReason.STOP, Usage(10, 5))
        except GeneratorExit:
            self.stopped = True
            raise
