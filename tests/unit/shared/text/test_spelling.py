import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.shared.text.folding import fold_case, normalise
from services.shared.text.spelling import bare_letters, common_spelling


@pytest.mark.parametrize(
    ("word", "bare"),
    [
        ("café", "cafe"), ("œuvre", "oeuvre"), ("łódź", "lodz"), ("đường", "duong"), ("αθήνα", "αθηνα"),
        ("ёлка", "елка"), ("йод", "йод"), ("हिन्दी", "हिन्दी"), ("がく", "がく"), ("plain", "plain"),
    ],
)  # fmt: skip
def test_accents_and_ligatures_go_from_latin_and_greek_letters(word: str, bare: str) -> None:
    assert bare_letters(word) == bare


@pytest.mark.parametrize(
    ("word", "language", "common"),
    [
        ("हिन्दी", "hi", "हिंदी"), ("चाँद", "hi", "चांद"), ("अङ्ग", "mr", "अंग"), ("लड़का", "hi", "लडका"),
        ("المدرسة", "ar", "مدرسة"), ("والكتاب", "ar", "كتاب"), ("للكتاب", "ar", "كتاب"), ("الم", "ar", "الم"),
        ("أحمد", "ar", "احمد"), ("مستشفى", "ar", "مستشفي"), ("خانهٔ", "fa", "خانه"),
        ("hâlâ", "tr", "hala"), ("çağrı", "tr", "çağrı"), ("naïve", "en", "naive"), ("élève", "fr", "élève"),
    ],
)  # fmt: skip
def test_a_language_has_one_common_spelling(word: str, language: str, common: str) -> None:
    assert common_spelling(word, language) == common


@given(st.text())
def test_bare_letters_have_none_to_lose(text: str) -> None:
    once = bare_letters(fold_case(normalise(text)))
    assert bare_letters(once) == once
