"""The knobs of this machine's commands, given as make variables or environment variables (`make run PORT=9000`)."""

from pathlib import Path
from typing import Literal, Self

from pydantic import Field, ValidationError, model_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

from services.local.failure import Failure

DEFAULT_MODEL = "all-MiniLM-L6-v2"


class LocalSettings(BaseSettings):
    """Make exports every variable, set or not, so an empty one counts as not given."""

    model_config = SettingsConfigDict(frozen=True, env_ignore_empty=True, extra="ignore")

    port: int = Field(8080, ge=1, le=65535, description="Port of the gateway and its console, on loopback.")
    data: Path = Field(Path(".plumbline"), description="Folder of all that is kept: index, catalog, originals, logs.")
    index: Literal["lancedb", "weaviate"] = Field(
        "lancedb", description="Engine of the index: lancedb is a folder, weaviate a server that is started beside."
    )
    model: str = Field(
        DEFAULT_MODEL,
        min_length=1,
        description="Embedding model: a name that `make weights` knows, a folder, or `hashing`: no weights.",
    )
    llm_url: str | None = Field(
        None,
        pattern="^https?://",
        description="Base URL of an OpenAI-compatible server, with its /v1; unset, answers are extractive.",
    )
    llm_model: str | None = Field(None, description="The model's name on that server.")
    sample: bool = Field(True, description="Add the sample collections that are missing; 0 leaves them out.")
    xdg_cache_home: Path = Field(
        default_factory=lambda: Path.home() / ".cache", description="Where downloaded weights are kept."
    )

    @model_validator(mode="after")
    def _language_model_is_whole(self) -> Self:
        if (self.llm_url is None) != (self.llm_model is None):
            raise ValueError("LLM_URL and LLM_MODEL belong together: give both or neither")
        return self

    @property
    def weaviate_folder(self) -> Path:
        """The cache of built Weaviate servers."""
        return self.xdg_cache_home / "plumbline" / "weaviate"

    @property
    def models_folder(self) -> Path:
        """The cache of model weights, one folder a model."""
        return self.xdg_cache_home / "plumbline" / "models"


def read_settings() -> LocalSettings:
    """Settings from the environment. Raises Failure with a sentence that names the variable."""
    try:
        return LocalSettings()
    except ValidationError as error:
        first = error.errors()[0]
        where = f"{str(first['loc'][0]).upper()}: " if first["loc"] else ""
        raise Failure(where + first["msg"].removeprefix("Value error, ")) from None
