"""The knobs of the answer service; how a collection answers is not among them: that comes with each call."""

from typing import Self
from urllib.parse import urlsplit, urlunsplit

from pydantic import Field, HttpUrl, SecretStr, model_validator

from services.shared.runtime.settings import RpcSettings, settings_of


class AnswerServiceSettings(RpcSettings):
    """Where passages come from, what writes the answers, and how long each may take.

    With `llm_url` and `llm_model` a language model writes, without them sentences of the passages are quoted.
    """

    model_config = settings_of("answer")

    search_target: str = Field(min_length=1, description="host:port of the search service.")
    embedding_target: str = Field(min_length=1, description="host:port of the embedding service.")
    search_timeout_s: float = Field(3.0, ge=0.05, le=60, description="Longest wait for the passages of one question.")
    embedding_timeout_s: float = Field(
        2.0,
        ge=0.05,
        le=60,
        description="Longest wait for the meaning of the sentences to quote; over it shared words alone choose them.",
    )
    passages: int = Field(
        8,
        ge=1,
        le=100,
        description="Hits asked of search for one answer. More reaches further down; the token budget drops the last.",
    )
    llm_url: HttpUrl | None = Field(
        None, description="Address of an OpenAI-compatible API; /v1 is added where it has no path."
    )
    llm_model: str | None = Field(None, min_length=1, description="The model's name at that address.")
    llm_api_key: SecretStr | None = Field(None, description="Key of that address, if it asks for one.")
    llm_context_tokens: int = Field(
        4096,
        ge=512,
        le=10_000_000,
        description="Tokens that prompt and answer may have together: what the server was started with. Too high makes "
        "the server refuse long prompts, too low leaves passages out.",
    )
    llm_connect_timeout_s: float = Field(2.0, ge=0.05, le=60, description="Longest wait for a connection.")
    llm_first_token_timeout_s: float = Field(
        15.0,
        ge=0.1,
        le=600,
        description="Longest wait for the first token, the server's queue and the prompt included.",
    )
    llm_next_token_timeout_s: float = Field(
        5.0, ge=0.1, le=600, description="Longest silence between two tokens; over it the answer ends in an error."
    )

    @property
    def llm_base_url(self) -> str | None:
        """The address under which the API's paths begin."""
        if self.llm_url is None:
            return None
        parts = urlsplit(str(self.llm_url))
        return urlunsplit(parts._replace(path=parts.path.rstrip("/") or "/v1"))

    @model_validator(mode="after")
    def _a_model_has_an_address(self) -> Self:
        if (self.llm_url is None) != (self.llm_model is None):
            prefix = self.environment_prefix
            raise ValueError(f"set both {prefix}LLM_URL and {prefix}LLM_MODEL, or neither")
        return self
