"""What a caller asks for."""

from dataclasses import dataclass
from enum import Enum


class Mode(Enum):
    """Where an answer may come from."""

    DOCUMENTS = "documents"
    GENERAL_KNOWLEDGE = "general_knowledge"


@dataclass(frozen=True, slots=True)
class AnswerPolicy:
    """How a collection answers, as the gateway resolved it.

    `same_field` is a field whose value the passages of one answer must share; empty is none. `max_passage_tokens`
    counts word pieces of the embedding model. `min_confidence`, in [0, 1], replaces the model's own threshold.
    """

    refusal_sentence: str
    nothing_matches_sentence: str
    general_knowledge_allowed: bool
    same_field: str
    fall_back_to_extractive: bool
    max_passage_tokens: int
    min_confidence: float | None

    def refuses(self, confidence: float, *, otherwise_below: float) -> bool:
        """The confidence is below the collection's bound, or below `otherwise_below` where it has none."""
        return confidence < (otherwise_below if self.min_confidence is None else self.min_confidence)


@dataclass(frozen=True, slots=True)
class Question:
    """A question within its bounds.

    `search` is the search to run, serialised: the pipeline hands it to its port unread; empty for GENERAL_KNOWLEDGE.
    `filtered` tells that the search has a filter. `locale` is the language of the question, or the collection's.
    """

    text: str
    mode: Mode
    max_tokens: int
    temperature: float
    policy: AnswerPolicy
    search: bytes
    filtered: bool
    locale: str
