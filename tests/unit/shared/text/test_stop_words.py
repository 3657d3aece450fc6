import pytest

from services.shared.text.folding import fold_case
from services.shared.text.stop_words import STOP_WORDS
from services.shared.text.words import find_pieces


@pytest.mark.parametrize("language", sorted(STOP_WORDS))
def test_every_stop_word_is_a_folded_word_that_the_analyzer_could_cut(language: str) -> None:
    for word in STOP_WORDS[language]:
        assert [piece.text for piece in find_pieces(word)] == [word]
        assert fold_case(word) == word
