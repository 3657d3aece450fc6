import pytest
from pydantic import ValidationError

from services.shared.catalog.collection_settings import AnswerSettings, RankingSettings


def test_refusal_sentence_is_the_one_of_the_locale_then_of_its_language_then_the_collections() -> None:
    answer = AnswerSettings(refusal_sentence="No.", refusal_sentence_by_locale={"pt": "Não.", "pt-PT": "Nao, pois."})

    assert answer.refusal_sentence_in("pt-PT") == "Nao, pois."
    assert answer.refusal_sentence_in("pt-BR") == "Não."
    assert answer.refusal_sentence_in("tr") == "No."


def test_refusal_sentence_is_the_contract_word_for_word() -> None:
    assert AnswerSettings().refusal_sentence_in("en") == (
        "The provided document does not contain enough information to answer this question."
    )


def test_sentence_for_a_filter_that_matches_nothing_follows_the_locale_too() -> None:
    answer = AnswerSettings(nothing_matches_sentence_by_locale={"tr": "Böyle bir ders yok."})

    assert answer.nothing_matches_sentence_in("tr-TR") == "Böyle bir ders yok."
    assert answer.nothing_matches_sentence_in("en") == "No document matches the filter."


def test_settings_out_of_bound_cannot_be_made() -> None:
    with pytest.raises(ValidationError):
        RankingSettings(mmr_lambda=1.5)
