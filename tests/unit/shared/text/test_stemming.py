import pytest

from services.shared.text.stemming import language_of, stem


@pytest.mark.parametrize(
    ("locale", "language"),
    [("tr", "tr"), ("tr-TR", "tr"), ("tr_TR", "tr"), ("EN-gb", "en"), ("zh-Hans-CN", "zh"), ("", "")],
)
def test_a_locale_means_its_language(locale: str, language: str) -> None:
    assert language_of(locale) == language


@pytest.mark.parametrize(
    ("word", "language", "expected"),
    [
        ("meetings", "en", "meet"),
        ("kitaplari", "tr", "kitap"),
        ("лошадями", "ru", "лошад"),
        ("लड़कियों", "hi", "लड़क"),
        ("meetings", "vi", "meetings"),
        ("meetings", "", "meetings"),
    ],
)
def test_the_language_chooses_the_stemmer(word: str, language: str, expected: str) -> None:
    assert stem(word, language) == expected


def test_latin_letters_in_a_language_of_another_script_are_english() -> None:
    assert stem("meetings", "zh") == stem("meetings", "ru") == "meet"
    assert stem("meetings", "tr") != "meet"
