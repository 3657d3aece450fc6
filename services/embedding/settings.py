"""The knobs of the embedding service."""

import os
from pathlib import Path
from typing import Literal

from pydantic import Field

from services.shared.runtime.settings import RpcSettings, settings_of


class EmbeddingSettings(RpcSettings):
    """Which model, where it runs, and how work waits for it."""

    model_config = settings_of("embedding")

    model: str = Field(
        "all-MiniLM-L6-v2",
        min_length=1,
        description="A folder in `models`, the absolute path of another folder with a sentence-transformers model, or "
        "`hashing`: no weights, for tests and dry runs. The folder's name is the model's name in calls.",
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
    device: str = Field(
        "auto", pattern=r"^(auto|cpu|cuda(:\d+)?)$", description="auto is the first CUDA device, else the CPU."
    )
    dtype: Literal["auto", "float32", "float16", "bfloat16"] = Field(
        "auto",
        description="auto is float16 on CUDA and float32 on a CPU; bfloat16 is for CPUs with AMX or AVX512-BF16.",
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
        "4096 on CUDA and 1024 on a CPU (130 ms with all-MiniLM-L6-v2 on 2 cores); beyond, throughput hardly rises.",
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


def let_waiting_threads_sleep() -> None:
    """Tell OpenMP, before torch loads it, that threads without work sleep; a value that is set already stays.

    By default they spin, and where other processes want the cores too, every pass waits behind threads that spin. On 2
    busy cores a query of 8 words took 283 ms in the median, with this 13 ms; the fastest of 100 took 12 ms either way.
    """
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
