"""What a folder must hold, and the hash of its weights."""

import hashlib
from pathlib import Path

import huggingface_hub
import pytest

from services.embedding.adapters.model_folder import ModelFolder, find_model
from services.embedding.ports import UnfitModel


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    path = tmp_path / "some-model"
    path.mkdir()
    (path / "modules.json").write_text("{}")
    (path / "model.safetensors").write_bytes(b"weights")
    return path


def test_the_model_has_the_name_of_its_folder_and_the_hash_of_its_file(folder: Path) -> None:
    model = ModelFolder(folder, config="modules.json")
    assert model.name == "some-model"
    assert model.weights_sha256() == hashlib.sha256(b"weights").hexdigest()


def test_weights_of_a_second_part_change_the_hash(folder: Path) -> None:
    (folder / "2_Dense").mkdir()
    hashes = set()
    for content in (b"dense", b"other"):
        (folder / "2_Dense" / "model.safetensors").write_bytes(content)
        hashes.add(ModelFolder(folder, config="modules.json").weights_sha256())
    assert len(hashes | {hashlib.sha256(b"weights").hexdigest()}) == 3


@pytest.mark.parametrize("name", ["modules.json", "model.safetensors"])
def test_a_folder_that_lacks_a_file_is_refused_by_the_files_name(folder: Path, name: str) -> None:
    (folder / name).unlink()
    with pytest.raises(UnfitModel, match=name.replace("model.", r"\*\.")):
        ModelFolder(folder, config="modules.json")


def test_a_folder_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UnfitModel, match="no folder"):
        ModelFolder(tmp_path / "nothing", config="modules.json")


def test_a_name_is_a_folder_of_the_cache_and_a_path_is_itself(folder: Path, tmp_path: Path) -> None:
    assert find_model("some-model", folder.parent, config="modules.json").path == folder
    assert find_model(str(folder), tmp_path / "elsewhere", config="modules.json").path == folder


def test_a_model_of_the_hub_is_named_without_its_organisation_and_knows_its_commit(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    commit = "0123456789abcdef0123456789abcdef01234567"
    kept = tmp_path / "hub" / "models--some-lab--some-model"
    (kept / "refs").mkdir(parents=True)
    (kept / "refs" / "main").write_text(commit)
    (kept / "snapshots").mkdir()
    folder.rename(kept / "snapshots" / commit)
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_CACHE", str(tmp_path / "hub"))
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", True)
    for named in ("some-lab/some-model", f"some-lab/some-model@{commit}"):
        found = find_model(named, tmp_path, config="modules.json")
        assert (found.name, found.revision) == ("some-model", commit)


def test_a_model_that_the_hub_does_not_give_is_refused_in_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_CACHE", str(tmp_path / "hub"))
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", True)
    with pytest.raises(UnfitModel, match=r"^[^\n]*the model hub did not give it[^\n]*$"):
        find_model("some-lab/not-there", tmp_path, config="modules.json")
