import hashlib
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.shared.text.analyzer import (
    ANALYZER_VERSION,
    MAX_QUERY_TERMS,
    MAX_TOKEN_BYTES,
    analyze_document,
    analyze_query,
)

LOCALES = st.sampled_from(["en", "tr", "hi", "zh-CN", "th", "ru", "de", ""])


def meets(query: str, document: str, locale: str) -> bool:
    return not set(analyze_query(query, locale)).isdisjoint(analyze_document(document, locale))


@pytest.mark.parametrize(
    ("text", "locale", "tokens"),
    [
        ("Meetings!", "en", ["w:meetings", "s:meet"]),
        ("Kitapları", "tr-TR", ["w:kitaplari", "s:kitap"]),
        ("हिन्दी विकिपीडिया", "hi", ["w:हिन्दी", "s:हिंद", "w:विकिपीडिया", "s:विकिपीडिय"]),
        ("कु", "hi", ["w:कु", "s:कु"]),
        ("лошадями", "ru", ["w:лошадями", "s:лошад"]),
        ("họp", "vi", ["w:họp", "s:hop"]),
        ("明月光", "zh", ["w:明月", "w:月光", "w:明", "w:月", "w:光"]),
        ("月", "zh", ["w:月"]),
        ("行く", "ja", ["w:行く", "w:行"]),
        ("パン", "ja", ["w:パン"]),
        ("ที่นี่", "th", ["w:ที่นี่"]),
        ("서울에서", "ko", ["w:서울", "w:울에", "w:에서"]),
        ("1-12", "en", ["w:1-12", "w:1", "s:1", "w:12", "s:12"]),
        ("E5_3", "en", ["w:e5_3", "w:e5", "s:e5", "w:3", "s:3"]),
        ("C++", "en", ["w:c++", "s:c++"]),
        ("C#", "en", ["w:c#", "s:c#"]),
        (".NET", "en", ["w:.net", "w:net", "s:net"]),
        ("v2.1", "en", ["w:v2.1", "w:v2", "s:v2", "w:1", "s:1"]),
        ("TOIL", "en", ["w:toil", "s:toil"]),
        ("e-mails", "en", ["w:emails", "s:email", "w:e", "s:e", "w:mails", "s:mail"]),
        ("U.S.A.", "en", ["w:usa", "s:usa", "w:u", "s:u", "w:s", "s:s", "w:a", "s:a"]),
        ("1,000", "en", ["w:1000", "s:1000", "w:1", "s:1", "w:000", "s:000"]),
        ("run-running", "en", ["w:runrunning", "s:runrun", "w:run", "s:run", "w:running", "s:run"]),
        ("a-A", "en", ["w:aa", "s:aa", "w:a", "s:a"]),
        ("résumés", "en", ["w:résumés", "s:resum"]),
        ("می‌روم", "fa", ["w:ميروم", "w:مي", "s:می", "w:روم", "s:روم"]),
        ("והבית", "he", ["w:והבית", "s:והבית", "s:הבית", "s:בית"]),
        ("", "en", []),
        ("🌶 — ?", "en", []),
    ],
)
def test_text_becomes_tokens(text: str, locale: str, tokens: list[str]) -> None:
    assert analyze_document(text, locale) == tokens
    assert analyze_query(text, locale) == list(dict.fromkeys(tokens))


def test_a_document_keeps_every_occurrence_and_a_query_each_token_once() -> None:
    assert analyze_document("go go", "en") == ["w:go", "s:go", "w:go", "s:go"]
    assert analyze_query("go go", "en") == ["w:go", "s:go"]


def test_chinese_words_are_found_inside_a_line() -> None:
    lines = ["床前明月光", "疑是地上霜", "举头望明月", "低头思故乡"]
    assert [meets("故乡", line, "zh") for line in lines] == [False, False, False, True]
    assert [meets("明月", line, "zh") for line in lines] == [True, False, True, False]


def test_a_chinese_name_after_titles_is_found_and_a_number_is_not_cut() -> None:
    assert "w:刘捷" in analyze_document("省委副书记、市委书记刘捷", "zh")
    assert analyze_document("20", "zh") == ["w:20", "s:20"]


@pytest.mark.parametrize(
    ("query", "document", "yes"),
    [
        ("C++", "a C programmer", False),
        ("C", "a C++ programmer", False),
        ("C#", "C++", False),
        ("1-1", "exercise 1-12", True),  # they share the part 1; the exact tier tells them apart
        ("NET", "ASP.NET", True),
        ("café", "CAFE\u0301", True),
        ("toil", "TOIL", True),
        ("meeting", "meetings", True),
    ],
)
def test_what_meets_and_what_does_not(query: str, document: str, yes: bool) -> None:
    assert meets(query, document, "en") is yes


@pytest.mark.parametrize(
    ("first", "second"), [("İnş", "inş"), ("Işık", "ışık"), ("Satış Teklifleri", "satış teklİflerİ"), ("IŞIK", "ışık")]
)
def test_turkish_words_meet_whatever_their_i(first: str, second: str) -> None:
    assert analyze_document(first, "tr") == analyze_document(second, "tr")


def test_a_query_drops_the_stop_words_of_its_locale() -> None:
    assert analyze_query("what is the budget", "en") == ["w:budget", "s:budget"]
    assert analyze_query("bütçe nedir", "tr") == analyze_query("bütçe", "tr")
    assert "w:the" in analyze_query("the budget", "tr")


def test_a_query_of_stop_words_keeps_them() -> None:
    assert analyze_query("the of and", "en") == ["w:the", "s:the", "w:of", "s:of", "w:and", "s:and"]


@pytest.mark.parametrize("query", ["???", "   ", '"', "", "\x00"])
def test_a_query_without_words_has_no_tokens(query: str) -> None:
    assert analyze_query(query, "en") == []


def test_a_stop_word_in_capitals_among_other_words_is_a_name() -> None:
    assert "w:it" in analyze_query("who runs IT support", "en")
    assert "w:it" not in analyze_query("who runs it", "en")
    assert "w:it" not in analyze_query("WHO RUNS IT SUPPORT", "en")


def test_above_a_number_of_words_a_query_asks_by_stems_and_whole_codes() -> None:
    query = "meetings about E5_3"
    assert analyze_query(query, "en", surfaces_up_to=2) == analyze_query(query, "en")
    assert analyze_query(query, "en", surfaces_up_to=1) == ["s:meet", "w:e5_3", "s:e5", "s:3"]


def test_a_query_whose_language_has_no_stemmer_asks_by_surfaces_at_any_length() -> None:
    assert analyze_query("họp mặt", "vi", surfaces_up_to=1) == ["w:họp", "s:hop", "w:mặt", "s:mat"]


def test_runs_are_asked_for_at_any_length() -> None:
    assert analyze_query("明月 パン", "zh", surfaces_up_to=0) == ["w:明月", "w:明", "w:月", "w:パン"]


def test_a_long_query_is_capped() -> None:
    tokens = analyze_query(" ".join(f"word{number}" for number in range(1000)), "en")
    assert len(tokens) == MAX_QUERY_TERMS
    assert tokens[0] == "w:word0"


def test_a_blob_is_cut_to_whole_characters() -> None:
    tokens = analyze_document("ж" * 1000 + " " + "a-" * 500_000, "ru")
    assert all(len(token.encode()) <= MAX_TOKEN_BYTES for token in tokens)
    assert tokens[0] == "w:" + "ж" * ((MAX_TOKEN_BYTES - 2) // 2)


def test_documents_change_their_tokens_only_with_a_new_version() -> None:
    """When this fails, raise ANALYZER_VERSION and put the new digest here: stored tokens no longer meet queries."""
    text = (
        "Meetings’ notes: E5_3, 1-12, C++ and .NET v2.1 (TOIL) cost 1,000. Kitapların ışığı Türkiye'nin. "
        "हिन्दी विकिपीडिया। 床前明月光，疑是地上霜。パーティーへ行く 서울에서 ที่นี่ лошадями schönsten naïve œuvres "
        "e-mails U.S.A. والكتاب می‌روم ובבית đường २०२१ 1–12 ёлка"
    )
    tokens = [
        token
        for locale in ("en", "tr", "hi", "zh", "ru", "de", "fr", "ar", "fa", "he", "vi", "")
        for token in analyze_document(text, locale)
    ]
    digest = hashlib.sha256("\n".join(tokens).encode()).hexdigest()[:16]
    assert (ANALYZER_VERSION, digest) == ("2", "49efd3c8c4125d3b")


@given(st.text(), LOCALES)
def test_a_token_has_no_white_space_and_a_known_prefix_and_is_bounded(text: str, locale: str) -> None:
    for token in (*analyze_document(text, locale), *analyze_query(text, locale)):
        assert token.split() == [token]
        assert token[:2] in ("w:", "s:") and len(token) > 2
        assert len(token.encode()) <= MAX_TOKEN_BYTES


@given(st.text(), LOCALES)
def test_composed_and_decomposed_text_have_the_same_tokens(text: str, locale: str) -> None:
    composed, decomposed = (analyze_document(unicodedata.normalize(form, text), locale) for form in ("NFC", "NFD"))
    assert composed == decomposed


@given(st.text(), LOCALES)
def test_a_query_asks_for_tokens_that_the_same_text_has_as_a_document(text: str, locale: str) -> None:
    assert set(analyze_query(text, locale)) <= set(analyze_document(text, locale))


@given(st.text(), LOCALES)
def test_a_query_is_empty_only_when_the_document_is(text: str, locale: str) -> None:
    assert bool(analyze_query(text, locale)) == bool(analyze_document(text, locale))
