"""Whether to refuse, and with which sentence; by rule, never from prose."""

from enum import Enum

from services.answer.domain.confidence import REFUSE_BELOW, Confidence
from services.answer.domain.found import Found
from services.answer.domain.question import AnswerPolicy, Question


class RefusalReason(Enum):
    """Why an answer was refused."""

    LOW_CONFIDENCE = "low_confidence"
    NOTHING_MATCHES_FILTER = "nothing_matches_filter"
    GENERATOR_REFUSED = "generator_refused"


def refusal_before_generation(question: Question, found: Found, confidence: Confidence) -> RefusalReason | None:
    """Why to refuse without generating anything, None to answer.

    LOW_CONFIDENCE is a statement about the documents: it holds only where no leg is missing.
    """
    if question.filtered and found.evidence.matching_chunks == 0:
        return RefusalReason.NOTHING_MATCHES_FILTER
    if not found.hits or question.policy.refuses(confidence.value, otherwise_below=REFUSE_BELOW):
        return RefusalReason.LOW_CONFIDENCE
    return None


def sentence_for(reason: RefusalReason, policy: AnswerPolicy) -> str:
    """What is said to the caller."""
    if reason is RefusalReason.NOTHING_MATCHES_FILTER:
        return policy.nothing_matches_sentence
    return policy.refusal_sentence
