"""The scorer agrees with the library's own `predict`; a tiny model with random weights stands in."""

from pathlib import Path

import numpy as np
import pytest
import torch
from sentence_transformers import CrossEncoder

from services.embedding.adapters.cross_encoder_scorer import CrossEncoderScorer, load_cross_encoder
from services.embedding.adapters.model_folder import ModelFolder
from services.embedding.adapters.placement import place
from services.embedding.domain.pairs import Pair
from services.embedding.ports import UnfitModel
from tests.fakes.tiny_model import write_tiny_cross_encoder

PAIRS = [
    Pair("time off", "a day of leave in lieu"),
    Pair("x", "y"),
    Pair("café", "明月 c"),
    Pair("q q q q q", "abcdefghij klmno"),
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_tiny_cross_encoder(tmp_path_factory.mktemp("pairs"))


@pytest.fixture(scope="module")
def scorer(folder: Path) -> CrossEncoderScorer:
    return load(folder)


def load(folder: Path) -> CrossEncoderScorer:
    placement = place(device="cpu", dtype="float32", threads=1)
    return load_cross_encoder(ModelFolder(folder, config="config.json"), placement)


@pytest.mark.parametrize("batch", [1, 4])
def test_pairs_get_the_logits_that_the_library_gives_them(scorer: CrossEncoderScorer, folder: Path, batch: int) -> None:
    library = CrossEncoder(str(folder), device="cpu", local_files_only=True)
    pairs = [(pair.query, pair.passage) for pair in PAIRS]
    theirs = library.predict(pairs, activation_fn=torch.nn.Identity())
    windows = [window for (window,) in scorer.tokenize(PAIRS)]
    ours = np.concatenate([scorer.forward(windows[start : start + batch]) for start in range(0, len(windows), batch)])
    assert ours == pytest.approx(theirs, abs=1e-5)
    assert np.ptp(ours) > 0.01


def test_each_window_of_a_long_passage_carries_the_whole_query_and_is_within_the_limit(
    scorer: CrossEncoderScorer,
) -> None:
    (windows,) = scorer.tokenize([Pair("q r s", "abc " * 100)])
    (short,) = scorer.tokenize([Pair("q r s", "abc")])
    assert len(windows) > 5
    assert max(len(window.ids) for window in windows) <= scorer.facts.max_tokens == 64
    # Before the passage: the special token, three pieces of the query, the next special token.
    assert {window.ids[:5] for window in windows} == {short[0].ids[:5]}
    assert {len(window.ids) == len(window.types) for window in windows} == {True}


@pytest.mark.parametrize("pair", [Pair("q " * 40, "abc"), Pair("q", "\u200b")])
def test_a_query_without_room_for_a_passage_and_a_passage_without_a_token_have_no_window(
    scorer: CrossEncoderScorer, pair: Pair
) -> None:
    assert scorer.tokenize([pair]) == [()]


def test_the_facts_are_the_models(scorer: CrossEncoderScorer) -> None:
    facts = scorer.facts
    assert (facts.name, facts.kind, facts.dimensions, facts.special_tokens) == ("tiny-pairs", "cross-encoder", 0, 3)


def test_single_precision_gives_what_single_precision_gave(scorer: CrossEncoderScorer) -> None:
    windows = [window for (window,) in scorer.tokenize(PAIRS)]
    assert scorer.forward_in_float32(windows).tolist() == scorer.forward(windows).tolist()


def test_a_model_with_several_scores_a_pair_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UnfitModel, match="3 scores"):
        load(write_tiny_cross_encoder(tmp_path, labels=3))


def test_broken_weights_are_refused_in_one_line(tmp_path: Path) -> None:
    folder = write_tiny_cross_encoder(tmp_path)
    (folder / "model.safetensors").write_bytes(b"not a model")
    with pytest.raises(UnfitModel, match=r"^it could not be loaded: [^\n]+$"):
        load(folder)
