import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.shared.text.folding import fold_case, normalise


@pytest.mark.parametrize(
    ("written", "normal"),
    [
        ("cafe\u0301", "café"),
        ("ＡＢＣ１２", "ABC12"),
        ("ﬁle", "file"),
        ("\ufeffFirst", "First"),
        ("co\u00adoperate", "cooperate"),
        ("zero\u200bwidth", "zerowidth"),
        ("1–12 and 1‑12 and −5", "1-12 and 1-12 and -5"),
        ("don’t", "don't"),
        ("plain - 'text'", "plain - 'text'"),
        ("२०२१ ٢٠٢١ ๒๕๖๔ ۱۴۰۰", "2021 2021 2564 1400"),
        ("كِتَـــاب", "كتاب"),
        ("שָׁלוֹם", "שלום"),
        ("короле\u0301ва и\u0306", "королева й"),
        ("น\u0e4d\u0e49า", "น\u0e49\u0e4dา"),  # a ring before its tone
        ("\u0e40\u0e40มว", "แมว"),
        ("می\u200cروم", "می\u200cروم"),
        ("\u200cمی\u200c \u200cروم\u200c", "می روم"),
        ("क्\u200cया Auf\u200clage", "क्या Auflage"),
        ("e\u200d\u0301", "é"),  # an invisible character between a letter and its accent
    ],
)
def test_writings_of_the_same_text_become_one(written: str, normal: str) -> None:
    assert normalise(written) == normal


@pytest.mark.parametrize("letter", ["I", "İ", "ı", "i", "I\u0307", "i\u0307"])
def test_every_i_is_one_letter(letter: str) -> None:
    assert fold_case(normalise(letter)) == "i"


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("İnş", "inş"),
        ("Işık", "ışık"),
        ("Satış Teklifleri", "satış teklİflerİ"),
        ("SATIŞ", "satış"),
        ("Straße", "STRASSE"),
        ("ΟΔΟΣ", "οδος"),
        ("ایران کتاب", "ايران كتاب"),
        ("می\u200cروم", "میروم"),
    ],
)
def test_texts_that_differ_in_case_only_meet(first: str, second: str) -> None:
    assert fold_case(normalise(first)) == fold_case(normalise(second))


@given(st.text())
def test_normalising_and_folding_twice_changes_nothing(text: str) -> None:
    folded = fold_case(normalise(text))
    assert normalise(normalise(text)) == normalise(text)
    assert fold_case(normalise(folded)) == folded


@given(st.text())
def test_composed_and_decomposed_text_fold_alike(text: str) -> None:
    composed, decomposed = (fold_case(normalise(unicodedata.normalize(form, text))) for form in ("NFC", "NFD"))
    assert composed == decomposed
