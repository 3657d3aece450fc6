"""Which sentences are quoted, and what happens without the embedding service."""

import pytest

from services.answer.adapters.extractive_generator import ExtractiveGenerator
from services.answer.domain.context import Source
from services.answer.domain.found import Generation
from services.answer.events import FinishReason, Usage
from services.answer.ports import Assignment, Ended, Quoted
from services.shared.runtime.errors import DependencyUnavailable, NotFound, Overloaded, PlumblineError
from tests.fakes.answer_ports import FakeSimilarity
from tests.fakes.answer_values import REFUSAL, source


def assignment(question: str, *sources: Source) -> Assignment:
    return Assignment(question, "en", sources, Generation("g", 1), "all-MiniLM-L6-v2", REFUSAL, 500, 0.1)


async def quoted(similarity: FakeSimilarity, question: str, *sources: Source) -> list[Quoted]:
    *quotes, end = [part async for part in ExtractiveGenerator(similarity).write(assignment(question, *sources))]
    assert end == Ended(FinishReason.STOP, Usage())
    return quotes


SKY = source(1, "Clouds are white. The sky is blue. Nights are dark.")


async def test_the_sentence_that_is_nearest_is_quoted_with_its_source() -> None:
    similarity = FakeSimilarity({"The sky is blue.": 0.9})
    assert await quoted(similarity, "What colour has the sky?", SKY) == [Quoted("The sky is blue.", 1)]


async def test_meaning_finds_what_shares_no_word() -> None:
    similarity = FakeSimilarity({"Nights are dark.": 0.8})
    assert await quoted(similarity, "When does light lack?", SKY) == [Quoted("Nights are dark.", 1)]


async def test_sentences_are_compared_under_their_headings() -> None:
    similarity = FakeSimilarity({})
    await quoted(similarity, "What does TOIL mean?", source(1, "Time off in lieu.", title="TOIL"))
    assert similarity.texts == ["TOIL\nTime off in lieu."]


@pytest.mark.parametrize("error", [DependencyUnavailable("down"), Overloaded("full"), NotFound("not loaded")])
async def test_without_embedding_shared_words_decide(error: PlumblineError) -> None:
    assert await quoted(FakeSimilarity(error), "Is the sky blue?", SKY) == [Quoted("The sky is blue.", 1)]


async def test_few_sentences_of_a_long_source_are_embedded() -> None:
    similarity = FakeSimilarity({})
    await quoted(similarity, "What?", source(1, " ".join(f"Sentence {number} says." for number in range(200))))
    assert len(similarity.texts) == 24


def test_nothing_limits_what_it_can_hold() -> None:
    wanted = assignment("What?", SKY)
    assert ExtractiveGenerator(FakeSimilarity({})).fitted(wanted) is wanted
