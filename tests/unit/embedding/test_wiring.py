"""What the settings choose, and how a wrong choice ends: one sentence that names the variable."""

from pathlib import Path
from typing import Any

import pytest

from services.embedding.adapters.hashing_encoder import HashingEncoder
from services.embedding.settings import EmbeddingSettings
from services.embedding.wiring import encoder_loader


def settings_with(**knobs: Any) -> EmbeddingSettings:
    return EmbeddingSettings(port=0, **knobs)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    path = tmp_path / "some-model"
    path.mkdir()
    for name in ("modules.json", "tokenizer.json", "model.safetensors"):
        (path / name).write_text("{}")
    return path


def test_hashing_is_an_encoder_and_not_a_folder() -> None:
    assert isinstance(encoder_loader(settings_with(model="hashing"))(), HashingEncoder)


def test_a_name_is_a_folder_of_the_cache_and_a_path_is_itself(folder: Path, tmp_path: Path) -> None:
    encoder_loader(settings_with(model="some-model", models=folder.parent))
    encoder_loader(settings_with(model=str(folder), models=tmp_path / "elsewhere"))


def test_a_missing_model_names_the_variable_and_the_way_to_get_one(tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match=r"PLUMBLINE_EMBEDDING_MODEL=gone .*make weights"):
        encoder_loader(settings_with(model="gone", models=tmp_path))


def test_weights_with_another_hash_than_the_given_one_are_not_loaded(folder: Path) -> None:
    load = encoder_loader(settings_with(model=str(folder), weights_sha256="0" * 64))
    with pytest.raises(SystemExit, match="SHA-256"):
        load()
