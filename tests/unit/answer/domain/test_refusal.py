from services.answer.domain.confidence import confidence_of
from services.answer.domain.found import Found
from services.answer.domain.question import Question
from services.answer.domain.refusal import RefusalReason, refusal_before_generation, sentence_for
from tests.fakes.answer_values import NOTHING, REFUSAL, found, hit, policy, question


def reason(asked: Question, result: Found) -> RefusalReason | None:
    return refusal_before_generation(asked, result, confidence_of(result.evidence))


def test_a_confident_search_is_answered() -> None:
    assert reason(question(), found(hit(), best_cosine=0.6)) is None


def test_low_confidence_is_refused() -> None:
    assert reason(question(), found(hit(), best_cosine=0.2)) is RefusalReason.LOW_CONFIDENCE


def test_a_collections_own_bound_decides() -> None:
    assert reason(question(min_confidence=0.999), found(hit(), best_cosine=0.6)) is RefusalReason.LOW_CONFIDENCE
    assert reason(question(min_confidence=0.0), found(hit(), best_cosine=0.2)) is None


def test_a_filter_that_leaves_nothing_is_told_apart() -> None:
    empty = found(best_cosine=None, matching_chunks=0)
    assert reason(question(filtered=True), empty) is RefusalReason.NOTHING_MATCHES_FILTER


def test_an_empty_collection_without_a_filter_is_no_fault_of_the_filter() -> None:
    assert reason(question(), found(best_cosine=None, matching_chunks=0)) is RefusalReason.LOW_CONFIDENCE


def test_no_hit_among_documents_that_match_is_low_confidence() -> None:
    empty = found(best_cosine=None, matching_chunks=12)
    assert reason(question(filtered=True, min_confidence=0.0), empty) is RefusalReason.LOW_CONFIDENCE


def test_each_reason_has_its_sentence() -> None:
    assert sentence_for(RefusalReason.NOTHING_MATCHES_FILTER, policy()) == NOTHING
    assert sentence_for(RefusalReason.LOW_CONFIDENCE, policy()) == REFUSAL
    assert sentence_for(RefusalReason.GENERATOR_REFUSED, policy()) == REFUSAL
