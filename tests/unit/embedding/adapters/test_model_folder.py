"""What a folder must hold, and the hash of its weights."""

import hashlib
from pathlib import Path

import pytest

from services.embedding.adapters.model_folder import ModelFolder, UnfitModel


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    path = tmp_path / "some-model"
    path.mkdir()
    for name in ("modules.json", "tokenizer.json"):
        (path / name).write_text("{}")
    (path / "model.safetensors").write_bytes(b"weights")
    return path


def test_the_model_has_the_name_of_its_folder_and_the_hash_of_its_file(folder: Path) -> None:
    model = ModelFolder(folder)
    assert model.name == "some-model"
    assert model.weights_sha256() == hashlib.sha256(b"weights").hexdigest()


def test_weights_of_a_second_part_change_the_hash(folder: Path) -> None:
    (folder / "2_Dense").mkdir()
    hashes = set()
    for content in (b"dense", b"other"):
        (folder / "2_Dense" / "model.safetensors").write_bytes(content)
        hashes.add(ModelFolder(folder).weights_sha256())
    assert len(hashes | {hashlib.sha256(b"weights").hexdigest()}) == 3


@pytest.mark.parametrize("name", ["modules.json", "tokenizer.json", "model.safetensors"])
def test_a_folder_that_lacks_a_file_is_refused_by_the_files_name(folder: Path, name: str) -> None:
    (folder / name).unlink()
    with pytest.raises(UnfitModel, match=name.replace("model.", r"\*\.")):
        ModelFolder(folder)


def test_a_folder_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UnfitModel, match="no folder"):
        ModelFolder(tmp_path / "nothing")
