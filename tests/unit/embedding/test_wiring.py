"""What the settings choose, and how a wrong choice is told: the variable, and what is wrong with what it names."""

from pathlib import Path
from typing import Any

import pytest

from services.embedding.adapters.hashing_encoder import HashingEncoder
from services.embedding.ports import UnfitModel
from services.embedding.settings import EmbeddingSettings
from services.embedding.wiring import encoder_sources, further_source, scorer_source


def settings_with(**knobs: Any) -> EmbeddingSettings:
    return EmbeddingSettings(port=0, **knobs)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    path = tmp_path / "some-model"
    path.mkdir()
    for name in ("modules.json", "config.json", "model.safetensors"):
        (path / name).write_text("{}")
    return path


def test_hashing_is_an_encoder_and_not_a_folder() -> None:
    (source,) = encoder_sources(settings_with(model="hashing"))
    assert isinstance(source.load(), HashingEncoder)


def test_each_model_is_told_by_its_own_variable(tmp_path: Path) -> None:
    settings = settings_with(model="a", second_model="b", cross_encoder="c", models=tmp_path)
    scorer = scorer_source(settings)
    assert scorer
    assert [source.label for source in (*encoder_sources(settings), scorer)] == [
        "PLUMBLINE_EMBEDDING_MODEL=a",
        "PLUMBLINE_EMBEDDING_SECOND_MODEL=b",
        "PLUMBLINE_EMBEDDING_CROSS_ENCODER=c",
    ]


def test_a_missing_model_is_unfit(tmp_path: Path) -> None:
    settings = settings_with(model="gone", cross_encoder="gone", models=tmp_path)
    for source in (*encoder_sources(settings), scorer_source(settings), further_source(settings, "gone", None)):
        assert source
        with pytest.raises(UnfitModel, match="there is no folder"):
            source.load()


def test_weights_with_another_hash_than_the_given_one_are_not_loaded(folder: Path) -> None:
    wrong = "0" * 64
    settings = settings_with(
        model=str(folder), weights_sha256=wrong, second_model=str(folder), second_weights_sha256=wrong,
        cross_encoder=str(folder), cross_encoder_sha256=wrong, models=folder.parent,
    )  # fmt: skip
    for source in (*encoder_sources(settings), scorer_source(settings), further_source(settings, folder.name, wrong)):
        assert source
        with pytest.raises(UnfitModel, match=f"not {wrong}"):
            source.load()
