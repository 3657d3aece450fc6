"""The knobs of the embedding service that serves ready vectors; `own_stack.py` sets them."""

from pathlib import Path
from typing import Literal

from pydantic import Field

from services.embedding.settings import EmbeddingSettings
from services.shared.runtime.settings import settings_of


class ReadyVectorsSettings(EmbeddingSettings):
    """The embedding service's own knobs, and which vectors it need not compute."""

    model_config = settings_of("embedding")

    ready_sets: tuple[str, ...] = Field(description="Names of sets whose ready vectors are served.")
    dtype: Literal["auto", "float32", "float16", "bfloat16"] = Field(
        "float32", description="Figures are compared between machines, of which not all compute in bfloat16."
    )
    computed: Path = Field(description="Folder where computed vectors are kept for later runs, a file for each model.")
