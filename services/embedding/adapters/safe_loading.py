"""Loads a model with sentence-transformers: from its safetensors only, running none of its code, asking no network."""

from collections.abc import Callable
from typing import TypeVar

from transformers.utils import logging as transformers_logging

from services.embedding.adapters.model_folder import ModelFolder
from services.embedding.adapters.placement import Placement
from services.embedding.ports import UnfitModel

_Module = TypeVar("_Module")


def load_safely(library_class: Callable[..., _Module], folder: ModelFolder, placement: Placement) -> _Module:
    """The model in `folder` as `library_class`, SentenceTransformer or CrossEncoder, loads it. Raises UnfitModel."""
    transformers_logging.disable_progress_bar()  # type: ignore[no-untyped-call]
    try:
        return library_class(
            str(folder.path),
            device=str(placement.device),
            local_files_only=True,
            trust_remote_code=False,
            model_kwargs={"dtype": placement.dtype, "use_safetensors": True},
        )
    except Exception as error:  # what the library raises for a broken folder has no common class
        reason = " ".join(str(error).split())
        raise UnfitModel(f"it could not be loaded: {type(error).__name__}: {reason}") from error
