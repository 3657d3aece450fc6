"""The hashing encoder: deterministic, honest, near where words are shared."""

import json

import numpy as np
import pytest
from tokenizers import Tokenizer

from services.embedding.adapters.hashing_encoder import HashingEncoder
from services.embedding.domain.embedding import Purpose
from services.embedding.domain.unit_vectors import unit_rows
from services.embedding.domain.windows import Span

ENCODER = HashingEncoder()


def vectors(*texts: str, encoder: HashingEncoder = ENCODER) -> np.ndarray:
    tokenized = encoder.tokenize(texts, Purpose.QUERY, truncate=False)
    rows, unsound = unit_rows(encoder.forward([window.pieces for text in tokenized for window in text.windows]))
    assert not unsound
    return rows


def test_its_name_and_kind_say_that_it_knows_no_meaning() -> None:
    assert (ENCODER.facts.name, ENCODER.facts.kind) == ("hashing", "hashing")


def test_two_encoders_and_two_processes_agree() -> None:
    texts = ("time off in lieu", "C++")
    assert np.array_equal(vectors(*texts), vectors(*texts, encoder=HashingEncoder()))
    # Computed in another process, with another hash seed.
    assert ENCODER.facts.weights_sha256 == HashingEncoder().facts.weights_sha256
    assert vectors("plumb")[0].nonzero()[0].tolist() == [75, 87, 99, 302, 310, 325]


def test_texts_that_share_words_are_nearer_than_texts_that_do_not() -> None:
    query, near, far = vectors("overtime pay rules", "the rules of overtime pay", "a recipe for lentil soup")
    assert query @ near > 0.6 > 0.2 > query @ far


def test_forms_of_one_word_are_near_and_case_does_not_count() -> None:
    meeting, meetings, other = vectors("Meeting", "meetings", "grammar")
    assert meeting @ meetings > 0.6 > 0.2 > meeting @ other


def test_batches_do_not_change_vectors() -> None:
    texts = ["one", "two words", "three words here " * 20]
    assert vectors(*texts) == pytest.approx(np.concatenate([vectors(text) for text in texts]))


@pytest.mark.parametrize("text", ["?", "…", "明月", "कु", "😀", "e\u0301", "a"])
def test_any_readable_text_has_a_token_and_a_vector(text: str) -> None:
    (tokenized,) = ENCODER.tokenize([text], Purpose.PASSAGE, truncate=False)
    assert tokenized.tokens >= 1
    assert np.linalg.norm(vectors(text)[0]) == pytest.approx(1.0)


@pytest.mark.parametrize("text", ["", " \n\t"])
def test_white_space_has_no_token(text: str) -> None:
    (tokenized,) = ENCODER.tokenize([text], Purpose.PASSAGE, truncate=False)
    assert (tokenized.tokens, tokenized.windows) == (0, ())


def test_a_long_text_is_read_in_windows() -> None:
    text = " ".join(f"w{number}" for number in range(300))
    (tokenized,) = ENCODER.tokenize([text], Purpose.PASSAGE, truncate=False)
    assert tokenized.tokens == 300
    assert next(window.span for window in tokenized.windows).start == 0
    assert tokenized.windows[-1].span == Span(tokenized.windows[-1].span.start, len(text))
    assert len(tokenized.windows) == 2


def test_its_tokenizer_file_counts_as_it_does() -> None:
    text = "C++ isn't कु, 明月 e\u0301"
    tokenizer = Tokenizer.from_str(ENCODER.tokenizer_json().decode())
    (tokenized,) = ENCODER.tokenize([text], Purpose.PASSAGE, truncate=False)
    assert len(tokenizer.encode(text).ids) == tokenized.tokens
    assert json.loads(ENCODER.tokenizer_json())["truncation"] is None
