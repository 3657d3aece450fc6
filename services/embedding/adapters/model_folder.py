"""A folder with a sentence-transformers model, looked at without loading torch."""

import hashlib
from pathlib import Path


class UnfitModel(Exception):
    """Why a model cannot be served, as the end of a sentence that began with its name."""


def weights_sha256(folder: Path) -> str:
    """The SHA-256 of the weights, lower-case hex: of the one file, or of all files' digests in path order.

    Raises UnfitModel when the folder lacks what is needed to load a model from it.
    """
    if not folder.is_dir():
        raise UnfitModel(f"there is no folder {folder}")
    missing = [name for name in ("modules.json", "tokenizer.json") if not (folder / name).is_file()]
    weights = sorted(folder.rglob("*.safetensors"))
    if missing or not weights:
        raise UnfitModel(f"{folder} lacks {', '.join(missing or ['*.safetensors'])}")
    digests = [_digest(file) for file in weights]
    return digests[0] if len(digests) == 1 else hashlib.sha256("\n".join(digests).encode()).hexdigest()


def _digest(file: Path) -> str:
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
