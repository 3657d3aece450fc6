"""A folder with a model, looked at without loading torch: where it is, what it must hold, the hash of its weights."""

import hashlib
import re
from pathlib import Path

from services.embedding.ports import UnfitModel

# `organisation/model`, and after an @ the commit, branch or tag.
_HUB_ID = re.compile(r"(?P<repository>[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*)(@(?P<revision>[\w./-]+))?")
# What a model needs; pickled weights, which can hold code, stay where they are.
_FILES = ["*.json", "*.safetensors", "*.txt", "*.model"]


class ModelFolder:
    """A folder that holds what loading needs: `config` and safetensors. Raises UnfitModel when it does not.

    `name` is the folder's name or the given one; `revision` is the commit of a model from the hub.
    """

    def __init__(self, path: Path, *, config: str, name: str = "", revision: str = "") -> None:
        if not path.is_dir():
            raise UnfitModel(f"there is no folder {path}")
        self.path = path
        self.name = name or path.resolve().name
        self.revision = revision
        self._weights = sorted(path.rglob("*.safetensors"))
        if not (path / config).is_file() or not self._weights:
            raise UnfitModel(f"{path} lacks {config if self._weights else '*.safetensors'}")

    def weights_sha256(self) -> str:
        """Lower-case hex: of the one weights file, or of the digests of all, a line each, in path order."""
        digests = [_digest(file) for file in self._weights]
        return digests[0] if len(digests) == 1 else hashlib.sha256("\n".join(digests).encode()).hexdigest()


def find_model(named: str, models: Path, *, config: str) -> ModelFolder:
    """The folder of that name in `models`, the folder at that absolute path, or a model of that id from the hub.

    Where the hub cannot be reached, what its client has in its cache is taken. Raises UnfitModel.
    """
    hub = _HUB_ID.fullmatch(named)
    if not hub or (models / named).is_dir():
        return ModelFolder(models / named, config=config)  # an absolute path stays what it is
    repository, revision = hub["repository"], hub["revision"]
    path = _from_hub(repository, revision)
    return ModelFolder(path, config=config, name=repository.split("/")[1], revision=path.name)


def _from_hub(repository: str, revision: str | None) -> Path:
    from huggingface_hub import snapshot_download

    try:
        return Path(snapshot_download(repository, revision=revision, allow_patterns=_FILES))
    except Exception as error:  # what the client raises for a network without the hub has no common class
        reason = " ".join(str(error).split())
        raise UnfitModel(f"it is no folder, and the model hub did not give it: {reason[:200]}") from error


def _digest(file: Path) -> str:
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
