import pytest

from services.shared.text.stemming import has_stemmer, language_of, stem, stems


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
        ("लड़कियों", "hi", "लडक"),
        ("meetings", "vi", "meetings"),
        ("meetings", "", "meetings"),
    ],
)
def test_the_language_chooses_the_stemmer(word: str, language: str, expected: str) -> None:
    assert stem(word, language) == expected


def test_latin_letters_in_a_language_of_another_script_are_english() -> None:
    assert stem("meetings", "zh") == stem("meetings", "ru") == "meet"
    assert stem("meetings", "tr") != "meet"


def test_a_stem_has_bare_letters() -> None:
    assert stem("élèves", "fr") == "elev"
    assert stem("họp", "vi") == "hop"


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("ספר", ("ספר",)),  # no letter of it can be a prefix with three left
        ("ילד", ("ילד",)),
        ("הספר", ("הספר", "ספר")),
        ("ובבית", ("ובבית", "בבית", "בית")),
        ("שלום", ("שלום", "לום")),  # its own letter, which no rule tells from a prefix
        ("book", ("book",)),
    ],
)
def test_a_hebrew_word_has_a_stem_for_each_way_to_read_its_first_letters(word: str, expected: tuple[str, ...]) -> None:
    assert stems(word, "he") == expected


def test_a_stem_of_one_letter_is_none() -> None:
    assert [stem(word, "hi") for word in ("कि", "की", "का")] == ["कि", "की", "का"]


def test_other_words_have_one_stem() -> None:
    assert stems("meetings", "en") == ("meet",)


def test_which_languages_have_a_stemmer() -> None:
    assert has_stemmer("tr") and not has_stemmer("vi") and not has_stemmer("")
