"""Answers without a language model: the sentences of the sources that answer best, in the documents' own words."""

from collections.abc import AsyncGenerator, Sequence

import structlog

from services.answer.domain.extract import (
    Candidate,
    candidates_of,
    joined_scores,
    most_promising,
    overlaps_with,
    select_sentences,
)
from services.answer.events import FinishReason, Usage
from services.answer.ports import Assignment, Ended, Quoted, Similarity, Writing
from services.shared.runtime.errors import DeadlineExceeded, DependencyUnavailable, NotFound, Overloaded

log = structlog.get_logger()

# Sentences that are embedded for one answer. Of 39 on average, the 24 with most of the question's words hold the right
# one as often as all do (98 %), 16 of them in 96 % of the questions that `domain/extract.py` tells of.
_EMBEDDED_SENTENCES = 24


class ExtractiveGenerator:
    """Quotes the sources."""

    name = "extractive"
    context_tokens = 0

    def __init__(self, similarity: Similarity) -> None:
        self._similarity = similarity

    def fitted(self, assignment: Assignment) -> Assignment:
        """The assignment as it is: nothing limits it."""
        return assignment

    async def write(self, assignment: Assignment) -> AsyncGenerator[Writing, None]:
        """See `Generator`; at least one sentence wherever there is a source. `max_tokens` does not apply."""
        candidates = candidates_of(assignment.sources)
        overlaps = overlaps_with(assignment.question, candidates, locale=assignment.locale)
        promising = most_promising(overlaps, _EMBEDDED_SENTENCES)
        candidates = [candidates[index] for index in promising]
        cosines = await self._cosines_or_words_alone(assignment, candidates)
        scores = joined_scores([overlaps[index] for index in promising], cosines)
        for sentence in select_sentences(candidates, scores):
            yield Quoted(sentence.text, sentence.source)
        yield Ended(FinishReason.STOP, Usage())

    async def _cosines_or_words_alone(
        self, assignment: Assignment, candidates: Sequence[Candidate]
    ) -> list[float] | None:
        """None when embedding does not answer: then shared words alone decide."""
        texts = [candidate.in_context for candidate in candidates]
        try:
            return await self._similarity.cosines(assignment.question, texts, model=assignment.model)
        except (DependencyUnavailable, Overloaded, DeadlineExceeded, NotFound) as error:
            log.warning("sentences_scored_by_words_alone", reason=error.message)
            return None
