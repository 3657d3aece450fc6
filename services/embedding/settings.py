"""The knobs of the embedding service."""

import os
from pathlib import Path
from typing import Literal, Self

from pydantic import Field, PositiveInt, SecretStr, model_validator

from services.shared.runtime.settings import RpcSettings, settings_of

# Begins the name of a model behind an endpoint.
OPENAI = "openai:"


class EmbeddingSettings(RpcSettings):
    """Which model, where it runs, and how work waits for it."""

    model_config = settings_of("embedding")

    model: str = Field(
        "all-MiniLM-L6-v2",
        min_length=1,
        description="A folder in `models`, the absolute path of another folder with a sentence-transformers model, a "
        "model of the hub (`intfloat/e5-small-v2`, with `@` and a commit to hold it), `openai:` and the name of one "
        "behind `openai_url`, or `hashing`: no weights, for tests and dry runs. The last part of the name is the "
        "model's name in calls.",
    )
    second_model: str | None = Field(
        None,
        min_length=1,
        description="One more model, named as `model`, for the time in which collections move from one to the other; "
        "both answer, which doubles the memory.",
    )
    cross_encoder: str | None = Field(
        None, min_length=1, description="A cross-encoder for pair scores, named as `model`; unset serves none."
    )
    models: Path = Field(
        default_factory=lambda: Path.home() / ".cache" / "plumbline" / "models",
        description="Folder of model folders, as `make weights` fills it.",
    )
    weights_sha256: str | None = Field(
        None,
        pattern="^[0-9a-f]{64}$",
        description="SHA-256 that the weights must have; unset takes what is there and tells its hash.",
    )
    second_weights_sha256: str | None = Field(
        None, pattern="^[0-9a-f]{64}$", description="The same for `second_model`."
    )
    cross_encoder_sha256: str | None = Field(
        None, pattern="^[0-9a-f]{64}$", description="The same for `cross_encoder`."
    )
    query_prompt: str | None = Field(
        None,
        max_length=1000,
        description="What stands before a query, instead of what the model's own configuration says; E5 and BGE models "
        "need theirs.",
    )
    passage_prompt: str | None = Field(None, max_length=1000, description="The same for passages.")
    shorter_dimensions: list[PositiveInt] = Field(
        default_factory=list,
        description="To how many dimensions a vector may be cut (a JSON list), where the model was trained for it "
        "(Matryoshka) and its own configuration does not say so.",
    )
    second_query_prompt: str | None = Field(None, max_length=1000, description="`query_prompt` of `second_model`.")
    second_passage_prompt: str | None = Field(None, max_length=1000, description="`passage_prompt` of `second_model`.")
    second_shorter_dimensions: list[PositiveInt] = Field(
        default_factory=list, description="`shorter_dimensions` of `second_model`."
    )
    openai_url: str | None = Field(
        None,
        pattern="^https?://",
        description="Base URL of an OpenAI-compatible embeddings endpoint, with its /v1; texts leave this house.",
    )
    openai_api_key: SecretStr = Field(SecretStr("none"), description="Key for that endpoint.")
    openai_timeout_s: float = Field(
        30.0, ge=0.1, le=600, description="Longest wait for one of its replies; a query has less by its own deadline."
    )
    openai_max_tokens: int = Field(
        8191, ge=16, le=1_000_000, description="Tokens that its model reads at once; a longer text becomes windows."
    )
    device: str = Field(
        "auto", pattern=r"^(auto|cpu|cuda(:\d+)?)$", description="auto is the first CUDA device, else the CPU."
    )
    dtype: Literal["auto", "float32", "float16", "bfloat16"] = Field(
        "auto",
        description="auto is float16 on CUDA, bfloat16 on a CPU with AMX or AVX512-BF16, float32 on any other.",
    )
    threads: int | None = Field(
        None,
        ge=1,
        le=256,
        description="Threads of one forward pass on a CPU; default one for each core of the machine. A container's CPU "
        "limit does not show there: set this to the limit, for more threads than cores slow every pass. Tokenising "
        "takes short turns on all cores beside it.",
    )
    query_batch_tokens: int = Field(
        512,
        ge=16,
        le=65_536,
        description="Padded tokens in a batch of queries; more serves a burst sooner as a whole, each query later.",
    )
    ingest_batch_tokens: int | None = Field(
        None,
        ge=16,
        le=65_536,
        description="Padded tokens in a batch of passages: the longest time that a query waits for ingest. Default "
        "4096 on CUDA and, on a CPU, what it computes in 150 ms, measured at the start; beyond, throughput hardly "
        "rises.",
    )
    query_queue_tokens: int = Field(
        8192,
        ge=16,
        le=10_000_000,
        description="Waiting tokens from which on queries are refused; more lets them wait where they would be late.",
    )
    ingest_queue_tokens: int = Field(
        65_536,
        ge=16,
        le=10_000_000,
        description="Waiting tokens from which on passages are refused and ingest comes back later.",
    )
    ingest_patience_s: float = Field(
        0.5,
        ge=0,
        le=60,
        description="Seconds for which queries may pass ingest over; then one batch goes first. Less speeds ingest up "
        "under a constant stream of queries and makes more of them wait.",
    )
    query_cache_mib: int = Field(
        32, ge=0, le=4096, description="MiB for the vectors of the queries asked last; 0 keeps none."
    )

    @model_validator(mode="after")
    def _endpoint_is_named(self) -> Self:
        models = (self.model, self.second_model or "")
        if any(model.startswith(OPENAI) for model in models) and not self.openai_url:
            prefix = self.environment_prefix
            raise ValueError(f"a model that begins with {OPENAI} needs {prefix}OPENAI_URL, the endpoint to ask")
        return self


def keep_few_kernels() -> None:
    """Tell oneDNN, before torch loads it, to forget the kernels of old batch shapes; a value that is set stays.

    In bfloat16 all-MiniLM-L6-v2 took 890 MiB more after 900 shapes of batches, with this 70 MiB, in the same time.
    """
    os.environ.setdefault("ONEDNN_PRIMITIVE_CACHE_CAPACITY", "64")
    os.environ.setdefault("LRU_CACHE_CAPACITY", "1")


def let_waiting_threads_sleep() -> None:
    """Tell OpenMP, before torch loads it, that threads without work sleep; a value that is set already stays.

    By default they spin, and where other processes want the cores too, every pass waits behind threads that spin. On 2
    busy cores a query of 8 words took 283 ms in the median, with this 13 ms; the fastest of 100 took 12 ms either way.
    """
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
