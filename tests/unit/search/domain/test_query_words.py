"""Which tokens stand for the words of a query, and what a text must hold to hold them."""

from collections.abc import Mapping, Sequence

import pytest

from services.search.domain.keywords import keyword_tokens
from services.search.domain.query_words import QueryWord, query_words
from services.shared.text.analyzer import analyze_document


def words(text: str, locale: str = "en", synonyms: Mapping[str, Sequence[str]] | None = None) -> tuple[QueryWord, ...]:
    tokens = keyword_tokens(text, locale, synonyms or {})
    return query_words(text, locale, synonyms or {}, tokens)


def tokens_of(text: str, locale: str = "en") -> list[str]:
    return [word.token for word in words(text, locale)]


def held(query: str, text: str, locale: str = "en", synonyms: Mapping[str, Sequence[str]] | None = None) -> list[bool]:
    """Whether `text` holds each word of the query."""
    present = set(analyze_document(text, locale))
    return [any(form <= present for form in word.forms) for word in words(query, locale, synonyms)]


def test_a_word_is_one_whatever_its_tokens() -> None:
    assert tokens_of("wind turbines") == ["s:wind", "s:turbin"]


def test_two_forms_of_a_word_are_one() -> None:
    assert tokens_of("runs running") == ["s:run"]


def test_stop_words_are_not_looked_for_and_weigh_nothing() -> None:
    assert tokens_of("what is the wind") == ["s:wind"]


def test_a_query_of_stop_words_has_those() -> None:
    assert tokens_of("the of") == ["s:the", "s:of"]


def test_another_form_holds_the_word() -> None:
    assert held("running engines", "An engine runs.") == [True, True]


@pytest.mark.parametrize("code", ["E5_3", "1-12", ".NET", "AT&T", "3.14", "GPT-4"])
def test_a_code_is_one_word_that_its_parts_do_not_hold(code: str) -> None:
    assert len(words(code)) == 1
    assert held(code, f"see {code} here") == [True]
    assert held(code, "E5 and 3, 1 and 12, NET, AT or T, 3 and 14, GPT and 4") == [False]


def test_words_that_hyphens_join_may_be_written_apart() -> None:
    assert held("wind-powered pump", "A pump powered by wind.") == [True, True, True]
    assert held("wind-powered pump", "A wind-powered pump.") == [True, True, True]
    assert held("wind-powered pump", "Wind.") == [True, False, False]


def test_neighbouring_characters_are_the_words_of_a_run() -> None:
    assert tokens_of("床前明月", "zh") == ["w:床前", "w:前明", "w:明月"]
    assert held("明月", "月明", "zh") == [False]


def test_a_character_alone_is_a_word() -> None:
    assert tokens_of("月", "zh") == ["w:月"]


def test_an_expansion_that_stands_whole_holds_the_term() -> None:
    synonyms = {"TOIL": ["time off in lieu"]}

    assert held("TOIL policy", "Our policy on time off in lieu", synonyms=synonyms) == [True, True]
    assert held("TOIL policy", "Our policy on time", synonyms=synonyms) == [False, True]
    assert held("TOIL policy", "TOIL", synonyms=synonyms) == [True, False]


def test_a_term_of_two_words_is_held_by_its_expansion() -> None:
    assert held("paid leave", "holiday", synonyms={"paid leave": ["holiday"]}) == [True, True]


def test_words_beyond_the_cap_weigh_nothing() -> None:
    assert [word.token for word in query_words("wind solar", "en", {}, ["w:wind", "s:wind"])] == ["s:wind"]


@pytest.mark.parametrize(
    ("locale", "text"), [("tr", "kitapların"), ("hi", "विद्यालय में"), ("he", "והבית"), ("ja", "東京の天気")]
)
def test_every_text_holds_its_own_words(locale: str, text: str) -> None:
    assert held(text, text, locale)
    assert all(held(text, text, locale))
