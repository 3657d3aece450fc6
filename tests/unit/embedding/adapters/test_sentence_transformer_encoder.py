"""The encoder of real models agrees with the library's own `encode`; a tiny model with random weights stands in."""

import hashlib
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sentence_transformers import SentenceTransformer
from tokenizers import Tokenizer

from services.embedding.adapters.model_folder import ModelFolder
from services.embedding.adapters.placement import place
from services.embedding.adapters.sentence_transformer_encoder import (
    SentenceTransformerEncoder,
    load_sentence_transformer,
)
from services.embedding.domain.embedding import Purpose
from services.embedding.domain.unit_vectors import unit_rows
from services.embedding.domain.windows import TokenizedText
from services.embedding.ports import UnfitModel
from tests.fakes.tiny_model import write_tiny_model
from tests.fakes.weights import MINILM, needs_weights

MAX_TOKENS = 16
SHORT = ["time off", "a", "lieu.", "x y z", "  spaced\n out ", "café", "明月", "q: a", "\u202bab"]
LONG = "one two three four five six seven eight nine ten"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    prompts = {"query": "query: ", "document": "passage: "}
    return write_tiny_model(tmp_path_factory.mktemp("prompted"), prompts=prompts, max_tokens=MAX_TOKENS)


@pytest.fixture(scope="module")
def encoder(folder: Path) -> SentenceTransformerEncoder:
    return load(folder)


@pytest.fixture(scope="module")
def library(folder: Path) -> SentenceTransformer:
    return SentenceTransformer(str(folder), device="cpu", local_files_only=True)


def load(folder: Path, *, device: str = "cpu", dtype: str = "float32", **knobs: Any) -> SentenceTransformerEncoder:
    placement = place(device=device, dtype=dtype, threads=1)
    return load_sentence_transformer(ModelFolder(folder, config="modules.json"), placement, **knobs)


def sha256_of(folder: Path) -> str:
    (weights,) = folder.rglob("*.safetensors")
    return hashlib.sha256(weights.read_bytes()).hexdigest()


def vectors(
    encoder: SentenceTransformerEncoder,
    texts: Sequence[str],
    purpose: Purpose,
    *,
    truncate: bool = False,
    batch: int = 64,
) -> np.ndarray:
    windows = windows_of(encoder.tokenize(texts, purpose, truncate=truncate))
    rows = [encoder.forward(windows[start : start + batch]) for start in range(0, len(windows), batch)]
    unit, unsound = unit_rows(np.concatenate(rows))
    assert not unsound
    return unit


def windows_of(texts: Sequence[TokenizedText]) -> list[tuple[int, ...]]:
    return [window.pieces for text in texts for window in text.windows]


def cosines(ours: np.ndarray, theirs: np.ndarray) -> np.ndarray:
    return np.asarray((ours * theirs / np.linalg.norm(theirs, axis=1, keepdims=True)).sum(axis=1))


@pytest.mark.parametrize("batch", [1, 4, 64])
def test_queries_and_passages_get_the_vectors_that_the_library_gives_them(
    encoder: SentenceTransformerEncoder, library: SentenceTransformer, batch: int
) -> None:
    for purpose, theirs in (
        (Purpose.QUERY, library.encode_query(SHORT)),
        (Purpose.PASSAGE, library.encode_document(SHORT)),
    ):
        assert cosines(vectors(encoder, SHORT, purpose, batch=batch), theirs).min() >= 0.9999


def test_a_query_and_a_passage_of_the_same_text_differ_where_the_model_has_prompts(
    encoder: SentenceTransformerEncoder,
) -> None:
    query, passage = vectors(encoder, ["time"], Purpose.QUERY), vectors(encoder, ["time"], Purpose.PASSAGE)
    assert cosines(query, passage)[0] < 0.9999


def test_a_truncated_text_gets_the_vector_that_the_library_gives_the_whole_one(
    encoder: SentenceTransformerEncoder, library: SentenceTransformer
) -> None:
    ours = vectors(encoder, [LONG], Purpose.PASSAGE, truncate=True)
    assert cosines(ours, library.encode_document([LONG])).min() >= 0.9999


def test_each_window_of_a_long_text_is_what_the_library_reads_in_its_span(
    encoder: SentenceTransformerEncoder, library: SentenceTransformer
) -> None:
    # Pieces are single letters here and words are cut anywhere, so a span is read alike only from a word's beginning.
    text = " ".join("abcdefghijklmnopqrstuvwxyz")
    (tokenized,) = encoder.tokenize([text], Purpose.PASSAGE, truncate=False)
    spans = [text[window.span.start : window.span.end] for window in tokenized.windows]
    assert len(spans) > 2 and tokenized.tokens == 26
    ours = vectors(encoder, [text], Purpose.PASSAGE)
    assert cosines(ours, library.encode_document(spans)).min() >= 0.9999


@pytest.mark.parametrize("purpose", list(Purpose))
def test_no_window_is_over_the_limit_and_each_carries_prompt_and_special_tokens(
    encoder: SentenceTransformerEncoder, purpose: Purpose
) -> None:
    tokenized = encoder.tokenize(["ab " * n for n in range(1, 30)], purpose, truncate=False)
    windows = windows_of(tokenized)
    assert max(map(len, windows)) <= MAX_TOKENS
    assert len({window[:3] for window in windows}) == len({window[-1] for window in windows}) == 1
    assert [text.tokens for text in tokenized] == [2 * n for n in range(1, 30)]


def test_padding_on_the_left_gives_what_the_library_gives_with_it(folder: Path) -> None:
    library = SentenceTransformer(str(folder), device="cpu", local_files_only=True)
    library.tokenizer.padding_side = "left"
    theirs = library.encode_query(SHORT)
    encoder = SentenceTransformerEncoder(library, name="left", weights_sha256="ab")
    assert cosines(vectors(encoder, SHORT, Purpose.QUERY), theirs).min() >= 0.9999


@pytest.mark.parametrize("text", ["", "  ", "\x00", "\u200b"])
def test_a_text_without_a_token_has_no_window_whatever_the_prompt(
    encoder: SentenceTransformerEncoder, text: str
) -> None:
    (tokenized,) = encoder.tokenize([text], Purpose.QUERY, truncate=False)
    assert (tokenized.tokens, tokenized.windows) == (0, ())


def test_the_facts_are_the_models(encoder: SentenceTransformerEncoder, folder: Path) -> None:
    facts = encoder.facts
    assert (facts.name, facts.kind, facts.weights_sha256) == ("tiny", "sentence-transformers", sha256_of(folder))
    assert (facts.dimensions, facts.max_tokens, facts.special_tokens) == (32, MAX_TOKENS, 2)
    assert (facts.device, facts.dtype) == ("cpu", "float32")


def test_the_tokenizer_file_counts_as_the_encoder_does_without_cutting(encoder: SentenceTransformerEncoder) -> None:
    tokenizer = Tokenizer.from_str(encoder.tokenizer_json().decode())
    (tokenized,) = encoder.tokenize([LONG], Purpose.PASSAGE, truncate=False)
    assert len(tokenizer.encode(LONG, add_special_tokens=False).ids) == tokenized.tokens > MAX_TOKENS


def test_a_model_that_does_not_tell_its_limit_is_refused(folder: Path) -> None:
    module = SentenceTransformer(str(folder), device="cpu", local_files_only=True)
    module.max_seq_length = 10**30
    with pytest.raises(UnfitModel, match="max_seq_length"):
        SentenceTransformerEncoder(module, name="endless", weights_sha256="ab")


def test_a_model_without_a_transformer_is_refused(folder: Path) -> None:
    module = SentenceTransformer(str(folder), device="cpu", local_files_only=True)
    headless = SentenceTransformer(modules=list(module)[1:], device="cpu")
    with pytest.raises(UnfitModel, match="transformer"):
        SentenceTransformerEncoder(headless, name="headless", weights_sha256="ab")


def test_a_model_that_leaves_its_prompt_out_of_pooling_is_refused(tmp_path: Path) -> None:
    folder = write_tiny_model(tmp_path, prompts={"query": "query: "}, pool_prompt=False)
    with pytest.raises(UnfitModel, match="pooling"):
        load(folder)


def test_broken_weights_are_refused_in_one_line(tmp_path: Path) -> None:
    folder = write_tiny_model(tmp_path)
    (folder / "model.safetensors").write_bytes(b"not a model")
    with pytest.raises(UnfitModel, match=r"^it could not be loaded: [^\n]+$"):
        load(folder)


@needs_weights
def test_minilm_gives_the_vectors_of_the_library_for_texts_of_all_lengths_in_any_order() -> None:
    words = Path(__file__).read_text().split()
    shuffled = random.Random(6)
    texts = [" ".join(shuffled.choices(words, k=shuffled.choice((1, 3, 8, 20, 40)))) for _ in range(40)]
    encoder = load(MINILM)
    theirs = SentenceTransformer(str(MINILM), device="cpu", local_files_only=True).encode(texts)
    within = [text.tokens <= 254 for text in encoder.tokenize(texts, Purpose.PASSAGE, truncate=False)]
    assert all(within)
    for batch in (1, 64):
        assert cosines(vectors(encoder, texts, Purpose.PASSAGE, batch=batch), theirs).min() >= 0.9999
