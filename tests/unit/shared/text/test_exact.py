import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.shared.text.exact import ExactTerms, contains_all, exact_terms


@pytest.mark.parametrize(
    ("query", "codes"),
    [
        ("what does TOIL mean", ["TOIL"]),
        ("TOIL 是什么意思", ["TOIL"]),
        ("WHAT DOES TOIL MEAN", []),
        ("TOIL", ["toil"]),
        ("TOIL?", ["toil"]),
        ("toil", []),
        ("IT SUPPORT", []),
        ("exercise E5_3 of unit 1-12", ["e5_3", "1-12"]),
        ("explain EBITDA", ["EBITDA"]),
        ("What can PM stand for when it is somebody's job?", ["PM"]),
        ("Superscars for Arithmetic Point Scatterers II", []),  # four other words: a title that goes on about others
        ("which words and which tenses does pupil Anna need in E5_3 and 1-12 for GPT4 and C++", ["e5_3", "1-12"]),
        ("SME 这个缩写有哪两种意思", ["SME"]),
        ("请问在印度的农村地区推广使用LED照明有什么好处", []),
        ("می‌روم", []),
        ("templates in C++ or C# and .NET", ["c++", "c#", ".net"]),
        ("release v2.1 of GPT4 for R&D", ["v2.1", "gpt4", "r&d"]),
        ("E5_3 e5_3", ["e5_3"]),
        ("papers of 2021 on long-term well-being", []),  # numbers and hyphens: see the module's figures
        ("COVID-19 and X-ray and HIV-AIDS", ["covid-19", "HIV-AIDS"]),
        ("I am here", []),
        ("???", []),
    ],
)
def test_codes_that_the_query_is_about_are_found(query: str, codes: list[str]) -> None:
    assert exact_terms(query, "en") == ExactTerms(phrases=(), codes=tuple(codes))


@pytest.mark.parametrize(
    ("query", "phrases"),
    [
        ('"Time off  in lieu," please', ["time off in lieu"]),
        (
            "“technical debt” or „Stand der Technik“ or «état de l’art»",
            ["technical debt", "stand der technik", "état de l'art"],
        ),
        ("「明月」的意思", ["明月"]),
        ('"E5_3"', ["e5_3"]),
        ('a 5" by 7" frame', []),
        ('an open "quote', []),
        ('"" and "?!"', []),
        ('"debt" and "Debt"', ["debt"]),
    ],
)
def test_quoted_phrases_are_found(query: str, phrases: list[str]) -> None:
    assert exact_terms(query, "en") == ExactTerms(phrases=tuple(phrases), codes=())


@pytest.mark.parametrize(
    ("term", "text", "yes"),
    [
        ("1-1", "exercise 1-1.", True),
        ("1-1", "exercise 1–1", True),
        ("1-1", "exercise 1-12", False),
        ("1-1", "exercise 11-1", False),
        ("1-1", "exercise 1-1-2", False),
        ("1-1", "exercise 2-1-1", False),
        ("v2.1", "v2.1.3", False),
        ("v2.1", "v2.1-beta", True),
        ("e5_3", "E5_3: fill the gaps", True),
        ("e5_3", "E5_31", False),
        ("toil", "Ask for TOIL.", True),
        ("toil", "toils", False),
        ("c++", "in C++, not", True),
        ("c++", "C++11", True),
        ("c", "C++", False),
        ("c", "C# and C++", False),
        ("c", "plain C.", True),
        (".net", "(.NET 8)", True),
        (".net", "example.net", False),
        ("time off in lieu", "Time off\n in  lieu", True),
        ("हिन्द", "हिन्दी", False),
        ("明月", "床前明月光", True),
        ("明月", "床前", False),
    ],
)
def test_a_term_is_bounded_as_a_word(term: str, text: str, yes: bool) -> None:
    assert contains_all(text, ExactTerms(phrases=(term,), codes=())) is yes
    assert contains_all(text, ExactTerms(phrases=(), codes=(term,))) is yes


@pytest.mark.parametrize(
    ("query", "text", "yes"),
    [
        ("what is TOIL", "Ask for TOIL.", True),
        ("what is TOIL", "TOIL, not toil", True),
        ("what is TOIL", "toil and trouble", False),
        ("what is TOIL", "Toil and trouble", False),
        ("what is TOIL", "ＴＯＩＬ", True),
        ("who is the WHO", "the people who ask", False),
        ("does HIV-AIDS spread", "hiv-aids", False),
        ("what is İŞ", "bir iş günü", False),
        ("where is E5_3", "see e5_3", True),
        ("is GPT4 new", "gpt4", True),
        ("our R&D budget", "the r&d budget", True),
        ("the .NET way", "in .net 8", True),
        ('what is "TOIL"', "toil and trouble", True),
        ("what is toil and ꭰꭱ1", "ꭰꭱ1", True),  # Cherokee folds to capitals
    ],
)
def test_a_code_that_only_its_capitals_tell_stands_in_capitals_in_the_text(query: str, text: str, yes: bool) -> None:
    assert contains_all(text, exact_terms(query, "en")) is yes


def test_which_words_tell_depends_on_the_locale() -> None:
    query = "wie und wo und wann man GPT4 nutzt"
    assert exact_terms(query, "de").codes == ("gpt4",)
    assert exact_terms(query, "en").codes == ()


def test_all_terms_must_be_there() -> None:
    terms = exact_terms('"time off" and E5_3', "en")
    assert contains_all("E5_3 gives time off", terms)
    assert not contains_all("E5_3 gives time", terms)
    assert not contains_all("time off", terms)


def test_no_terms_are_in_every_text() -> None:
    assert contains_all("", ExactTerms(phrases=(), codes=()))


@pytest.mark.parametrize("query", ["I\u0e4dI0", "\u0345II", "«I\x1fI»"])
def test_stray_characters_beside_a_term_are_no_part_of_it(query: str) -> None:
    assert contains_all(query, exact_terms(query, "en"))


@given(st.text())
def test_a_query_holds_its_own_terms(query: str) -> None:
    assert contains_all(query, exact_terms(query, "en"))
