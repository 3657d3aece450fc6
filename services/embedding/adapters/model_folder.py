"""A folder with a sentence-transformers model, looked at without loading torch."""

import hashlib
from pathlib import Path


class UnfitModel(Exception):
    """Why a model cannot be served, as the end of a sentence that began with its name."""


class ModelFolder:
    """A folder that holds what loading needs. Raises UnfitModel when it does not."""

    def __init__(self, path: Path) -> None:
        if not path.is_dir():
            raise UnfitModel(f"there is no folder {path}")
        self.path = path
        self.name = path.resolve().name
        self._weights = sorted(path.rglob("*.safetensors"))
        missing = [name for name in ("modules.json", "tokenizer.json") if not (path / name).is_file()]
        if missing or not self._weights:
            raise UnfitModel(f"{path} lacks {', '.join(missing or ['*.safetensors'])}")

    def weights_sha256(self) -> str:
        """Lower-case hex: of the one weights file, or of the digests of all, a line each, in path order."""
        digests = [_digest(file) for file in self._weights]
        return digests[0] if len(digests) == 1 else hashlib.sha256("\n".join(digests).encode()).hexdigest()


def _digest(file: Path) -> str:
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
