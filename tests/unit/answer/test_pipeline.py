"""One answer through the pipeline: which events, in which order, under which rule."""

import pytest

from services.answer.domain.found import Found
from services.answer.domain.question import Mode, Question
from services.answer.domain.refusal import RefusalReason
from services.answer.events import (
    Citation,
    Delta,
    Done,
    Event,
    FinishReason,
    Refusal,
    Sources,
    Unsupported,
    Usage,
)
from services.answer.pipeline import AnswerPipeline
from services.answer.ports import Ended, Quoted
from services.shared.runtime.errors import (
    DeadlineExceeded,
    DependencyUnavailable,
    InvalidInput,
    NotFound,
    PermissionDenied,
)
from tests.fakes.answer_ports import FakeGenerator, FakePassageSearch
from tests.fakes.answer_values import NOTHING, REFUSAL, found, hit, question

FOUND = found(
    hit(0, "The sky is blue at noon.", document_id="a"), hit(0, "Grass is green.", chunk_id="g", document_id="b")
)
DOWN = DependencyUnavailable("down")


async def answered(
    model: FakeGenerator | None,
    *,
    result: Found | Exception = FOUND,
    asked: Question | None = None,
    extractive: FakeGenerator | None = None,
) -> list[Event]:
    pipeline = AnswerPipeline(
        search=FakePassageSearch(result),
        extractive=extractive or FakeGenerator(Quoted("Grass is green.", 2), name="extractive"),
        language_model=model,
    )
    return [event async for event in pipeline.answer(asked or question())]


def kinds(events: list[Event]) -> list[str]:
    return [type(event).__name__ for event in events]


def text_of(events: list[Event]) -> str:
    return "".join(event.text for event in events if isinstance(event, Delta))


async def test_an_answer_is_sources_text_citations_and_its_end() -> None:
    events = await answered(FakeGenerator("The sky ", "is blue [Sou", "rce 1]."))
    assert kinds(events) == ["Sources", "Delta", "Delta", "Delta", "Citation", "Done"]
    assert text_of(events) == "The sky is blue [Source 1]."
    assert events[0] == Sources(events[0].sources, FOUND.generation)
    assert [source.text for source in events[0].sources] == ["The sky is blue at noon.", "Grass is green."]
    assert events[4] == Citation(source=1, start=0, end=27, support=1.0, supported=True)


async def test_the_end_tells_what_the_answer_rests_on() -> None:
    done = (await answered(FakeGenerator("Blue [1].")))[-1]
    assert isinstance(done, Done)
    assert (done.finish_reason, done.generator, done.usage) == (FinishReason.STOP, "fake-model", Usage(10, 5))
    assert done.confidence.value > 0.9
    assert (done.confidence.calibration, done.generation, done.degraded) == ("uncalibrated", FOUND.generation, set())
    assert 0 <= done.timings.search_s <= done.timings.first_token_s <= done.timings.total_s


async def test_a_sentence_that_its_source_does_not_bear_out_is_told_after_its_citation() -> None:
    events = await answered(FakeGenerator("The sky is blue at noon [1]. Grass is 40 green [2]."))
    assert kinds(events)[2:6] == ["Citation", "Citation", "Unsupported", "Done"]
    assert events[2].supported and not events[3].supported
    unsupported = events[4]
    assert isinstance(unsupported, Unsupported)
    assert text_of(events)[unsupported.start : unsupported.end] == "Grass is 40 green [Source 2]."
    assert (unsupported.source, unsupported.reasons) == (2, ("number",))


async def test_markers_without_a_source_are_counted_in_the_end() -> None:
    events = await answered(FakeGenerator("Yes [Source 3]. No [3]."))
    assert text_of(events) == "Yes. No [3]."
    assert events[-1].dropped_markers == 1


async def test_low_confidence_refuses_before_anything_is_generated() -> None:
    model = FakeGenerator("never")
    events = await answered(model, result=found(hit(), best_cosine=0.1))
    assert events[0] == Refusal(REFUSAL, RefusalReason.LOW_CONFIDENCE)
    assert kinds(events) == ["Refusal", "Done"]
    assert (events[1].finish_reason, events[1].generator) == (FinishReason.REFUSAL, "")
    assert events[1].confidence.value < 0.1
    assert model.assignments == []


async def test_a_filter_that_leaves_nothing_has_its_own_sentence() -> None:
    nothing = found(best_cosine=None, matching_chunks=0, degraded=("vector",))
    events = await answered(None, result=nothing, asked=question(filtered=True))
    assert events[0] == Refusal(NOTHING, RefusalReason.NOTHING_MATCHES_FILTER)


@pytest.mark.parametrize("leg", ["vector", "keyword"])
async def test_while_a_leg_is_missing_low_confidence_is_an_error_and_no_refusal(leg: str) -> None:
    with pytest.raises(DependencyUnavailable, match=leg) as failure:
        await answered(None, result=found(hit(), best_cosine=None, degraded=(leg,)))
    assert failure.value.retry_after_s


async def test_a_confident_answer_is_given_without_the_keyword_leg_and_says_so() -> None:
    events = await answered(FakeGenerator("Blue [1]."), result=found(hit(), degraded=("keyword", "ranking")))
    assert events[-1].degraded == {"keyword", "ranking"}


async def test_text_that_begins_with_the_refusal_sentence_voids_the_sources_and_stops_the_generator() -> None:
    model = FakeGenerator("\n", REFUSAL[:30], REFUSAL[30:] + " But [1]", " says more [1].")
    events = await answered(model)
    assert kinds(events) == ["Sources", "Refusal", "Done"]
    assert events[1] == Refusal(REFUSAL, RefusalReason.GENERATOR_REFUSED)
    assert (events[2].finish_reason, events[2].generator) == (FinishReason.REFUSAL, "fake-model")
    assert model.stopped


@pytest.mark.parametrize(
    ("after", "usage"),
    [
        ((), Usage(10, 5)),
        (("\n",), Usage(10, 5)),
        ((" But it says", " more."), Usage()),
        ((DOWN,), Usage()),
        ((DeadlineExceeded("late"),), Usage()),
    ],
    ids=["it ends", "it ends with a line break", "it goes on", "it fails", "out of time"],
)
async def test_a_refusal_tells_the_tokens_that_the_model_counted(
    after: tuple[str | Exception, ...], usage: Usage
) -> None:
    model = FakeGenerator(REFUSAL, *after)
    events = await answered(model)
    assert kinds(events) == ["Sources", "Refusal", "Done"]
    assert (events[2].finish_reason, events[2].usage) == (FinishReason.REFUSAL, usage)


async def test_general_knowledge_searches_nothing_and_cites_nothing() -> None:
    search = FakePassageSearch(FOUND)
    pipeline = AnswerPipeline(
        search=search, extractive=FakeGenerator(), language_model=FakeGenerator("Blue [Source 1] and [1]. ", REFUSAL)
    )
    events = [event async for event in pipeline.answer(question(mode=Mode.GENERAL_KNOWLEDGE))]
    assert search.asked == []
    assert set(kinds(events)) == {"Delta", "Done"}
    assert text_of(events) == f"Blue and [1]. {REFUSAL}"
    assert (events[-1].confidence, events[-1].generation, events[-1].dropped_markers) == (None, None, 1)


async def test_general_knowledge_needs_a_language_model() -> None:
    with pytest.raises(InvalidInput, match="no language model is configured") as failure:
        await answered(None, asked=question(mode=Mode.GENERAL_KNOWLEDGE))
    assert failure.value.field == "mode"


async def test_a_collection_can_forbid_general_knowledge() -> None:
    with pytest.raises(PermissionDenied):
        await answered(FakeGenerator(), asked=question(mode=Mode.GENERAL_KNOWLEDGE, general_knowledge_allowed=False))


async def test_without_a_language_model_sentences_are_quoted() -> None:
    events = await answered(None)
    assert text_of(events) == "Grass is green. [Source 2]"
    assert events[-1].generator == "extractive"


async def test_a_model_that_fails_before_its_first_word_is_replaced_where_the_collection_allows_it() -> None:
    events = await answered(FakeGenerator(DOWN), asked=question(fall_back_to_extractive=True))
    assert kinds(events) == ["Sources", "Delta", "Citation", "Done"]
    assert (events[-1].generator, events[-1].degraded) == ("extractive", {"generator"})


@pytest.mark.parametrize(
    ("model", "allowed"),
    [
        (FakeGenerator(DOWN), False),
        (FakeGenerator("The sky", DOWN), True),
        (FakeGenerator(DeadlineExceeded("late")), True),
    ],
    ids=["not allowed", "after its first word", "out of time"],
)
async def test_otherwise_a_failing_model_ends_the_answer_after_its_sources(model: FakeGenerator, allowed: bool) -> None:
    pipeline = AnswerPipeline(search=FakePassageSearch(FOUND), extractive=FakeGenerator(), language_model=model)
    events: list[Event] = []
    with pytest.raises((DependencyUnavailable, DeadlineExceeded)):
        async for event in pipeline.answer(question(fall_back_to_extractive=allowed)):
            events.append(event)
    assert kinds(events)[0] == "Sources"


async def test_general_knowledge_never_falls_back_to_passages() -> None:
    with pytest.raises(DependencyUnavailable):
        await answered(FakeGenerator(DOWN), asked=question(mode=Mode.GENERAL_KNOWLEDGE, fall_back_to_extractive=True))


async def test_what_search_raises_reaches_the_caller() -> None:
    with pytest.raises(NotFound):
        await answered(None, result=NotFound("no such collection"))


async def test_only_sources_that_the_model_can_hold_are_shown() -> None:
    model = FakeGenerator("Blue [1]. Green [Source 2].", holds=1)
    events = await answered(model)
    assert [source.number for source in events[0].sources] == [1]
    assert events[-1].dropped_markers == 1


async def test_the_generator_is_told_what_it_needs() -> None:
    model = FakeGenerator("Blue.")
    await answered(model, asked=question("Why?"))
    (assignment,) = model.assignments
    assert (assignment.question, assignment.max_tokens, assignment.temperature) == ("Why?", 500, 0.1)
    assert (assignment.model, assignment.generation) == ("all-MiniLM-L6-v2", FOUND.generation)
    assert assignment.refusal_sentence == REFUSAL


async def test_passages_of_one_answer_share_the_field_that_the_collection_names() -> None:
    result = found(
        hit(0, "In unit two.", document_id="a", metadata={"unit": "2"}),
        hit(0, "In unit three.", chunk_id="x", document_id="b", metadata={"unit": "3"}),
    )
    events = await answered(FakeGenerator("Yes [1]."), result=result, asked=question(same_field="unit"))
    assert [source.text for source in events[0].sources] == ["In unit two."]


async def test_closing_the_answer_stops_the_generator() -> None:
    model = FakeGenerator("One. ", "Two. ", "Three.")
    pipeline = AnswerPipeline(search=FakePassageSearch(FOUND), extractive=FakeGenerator(), language_model=model)
    events = pipeline.answer(question())
    assert isinstance(await anext(events), Sources)
    assert await anext(events) == Delta("One.")
    await events.aclose()
    assert model.stopped


async def test_an_answer_that_is_cut_at_its_limit_says_so() -> None:
    model = FakeGenerator("The sky", Ended(FinishReason.LENGTH, Usage(10, 2)))
    events = await answered(model)
    assert events[-1].finish_reason is FinishReason.LENGTH
