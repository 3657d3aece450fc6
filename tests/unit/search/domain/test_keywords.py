from services.search.domain.keywords import keyword_tokens
from services.shared.text.analyzer import MAX_QUERY_TERMS, analyze_query

SYNONYMS = {"TOIL": ["time off in lieu"], "time off": ["leave"], "": ["never"], "???": ["never"]}


def test_without_synonyms_the_tokens_are_the_analyzer_s() -> None:
    assert keyword_tokens("what is the budget", "en", {}) == analyze_query("what is the budget", "en")


def test_a_term_of_the_query_adds_its_expansions_behind_the_query_s_own_tokens() -> None:
    tokens = keyword_tokens("what is toil", "en", SYNONYMS)
    assert tokens == [*analyze_query("what is toil", "en"), *analyze_query("time off in lieu", "en")]


def test_a_term_of_several_words_stands_side_by_side() -> None:
    assert "w:leave" in keyword_tokens("taking time off now", "en", SYNONYMS)
    assert "w:leave" not in keyword_tokens("off the record, in good time", "en", SYNONYMS)


def test_a_word_that_holds_a_term_is_another_word() -> None:
    assert "w:lieu" not in keyword_tokens("toiling away", "en", SYNONYMS)


def test_a_query_without_words_has_no_tokens() -> None:
    assert keyword_tokens("???", "en", SYNONYMS) == []


def test_a_query_of_up_to_five_words_asks_for_their_forms_and_a_longer_one_for_stems() -> None:
    assert "w:meetings" in keyword_tokens("meetings plans trips teams rooms", "en", {})
    assert keyword_tokens("meetings plans trips teams rooms dates", "en", {}) == [
        "s:meet", "s:plan", "s:trip", "s:team", "s:room", "s:date"
    ]  # fmt: skip


def test_tokens_are_different_and_capped() -> None:
    tokens = keyword_tokens("toil toil", "en", {"toil": [f"toil word{number}" for number in range(100)]})
    assert len(tokens) == len(set(tokens)) == MAX_QUERY_TERMS
