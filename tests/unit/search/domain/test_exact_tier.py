import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.search.domain.exact_tier import Passage, exact_first, exact_matches
from services.shared.text.analyzer import analyze_document
from services.shared.text.exact import contains_all, exact_terms


def a_passage(text: str, locale: str = "en") -> Passage:
    return Passage(text, " ".join(analyze_document(text, locale)))


def matches(query: str, **texts: str) -> set[str]:
    return set(exact_matches(query, "en", {name: a_passage(text) for name, text in texts.items()}))


EXERCISES = {
    "code": "Exercise E5_3: put the verb in the past.",
    "longer": "Exercise E5_31: put the verb in the future.",
    "plain": "An exercise about the past.",
}


def test_passages_with_the_code_are_exact_and_longer_codes_are_not() -> None:
    assert matches("what is E5_3", **EXERCISES) == {"code"}


def test_every_phrase_and_code_must_be_there() -> None:
    assert matches('"the verb" E5_3', **EXERCISES) == {"code"}
    assert matches('"the noun" E5_3', **EXERCISES) == set()


def test_an_acronym_counts_only_in_a_query_that_is_not_all_capitals() -> None:
    texts = {"acronym": "TOIL is time off in lieu.", "word": "Hard work."}
    assert matches("what is TOIL", **texts) == {"acronym"}
    assert matches("WHAT IS TOIL", **texts) == set()


def test_a_query_without_phrase_or_code_has_no_exact_passages() -> None:
    assert matches("an exercise about the past", **EXERCISES) == set()


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ('"明月"', "举头望明月"), ("use C++ here", "C++11 and C++/CLI"), ("the .NET way", "a .NET-based stack"),
        ("see COVID-19 cases", "COVID-19-related"), ("our R&D", "R&D-heavy"), ("the C# way", "C#-like"),
        ('"l\'eau"', "de l’eau"), ('"Satış Teklifleri"', "satış teklİflerİ"), ('"ก"', "กข"), ("the E5_3 one", "E5_3-a"),
        ('"ï"', "i-ï"),
    ],
)  # fmt: skip
def test_what_the_text_holds_to_the_letter_is_found_whatever_stands_around_it(query: str, text: str) -> None:
    assert contains_all(text, exact_terms(query, "en"))
    assert matches(query, it=text) == {"it"}


WORDS = st.sampled_from(["E5_3", "TOIL", "C++", "off", "1-12", "R&D", ".NET", "Türkiye'nin", "明月", "GPT4", "हिन्दी"])
TEXTS = st.lists(st.tuples(WORDS, st.sampled_from([" ", ", ", "-", ".", "/", "_", ""])), max_size=8).map(
    lambda pieces: "".join(word + gap for word, gap in pieces)
)


@given(TEXTS, st.lists(WORDS, min_size=1, max_size=2), st.booleans(), st.sampled_from(["en", "tr", "zh"]))
def test_looking_at_tokens_first_changes_nothing(text: str, words: list[str], quoted: bool, locale: str) -> None:
    query = f'what is "{" ".join(words)}"' if quoted else f"what is {' '.join(words)}"
    terms = exact_terms(query, locale)
    holds = bool(terms.phrases or terms.codes) and contains_all(text, terms)
    assert exact_matches(query, locale, {"it": a_passage(text, locale)}) == ({"it"} if holds else frozenset())


def test_exact_items_come_first_and_each_part_keeps_its_order() -> None:
    assert exact_first([3, 2, 5, 4], lambda number: number % 2 == 0) == [2, 4, 3, 5]


@given(st.lists(st.integers()))
def test_the_same_items_come_out(numbers: list[int]) -> None:
    tiered = exact_first(numbers, lambda number: number % 2 == 0)
    assert tiered == [n for n in numbers if n % 2 == 0] + [n for n in numbers if n % 2]
