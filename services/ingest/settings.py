"""The knobs of the ingest service."""

from pydantic import Field, SecretStr

from services.shared.index.settings import IndexSettings
from services.shared.runtime.settings import settings_of


class IngestSettings(IndexSettings):
    """Where the write side finds its stores and peers, and how hard it works."""

    model_config = settings_of("ingest")

    embedding_target: str = Field(min_length=1, description="host:port of the embedding service.")
    search_target: str | None = Field(
        None, min_length=1, description="host:port of the search service; asked only to compare generations."
    )
    catalog_url: SecretStr = Field(
        min_length=1,
        description="Address of the catalog: sqlite:////folder/catalog.db on one machine, else "
        "postgresql://user:password@host:port/database; one process holds at most 8 connections to it.",
    )
    blobs_url: str = Field(min_length=1, description="Folder, or an address that fsspec knows, for originals.")
    model: str = Field("", description="Embedding model of new collections; empty is the embedding service's default.")

    workers: int = Field(
        2,
        ge=1,
        le=16,
        description="Batches applied side by side. Of several, the last takes only documents of up to 256 KiB, so that "
        "they never wait behind large ones.",
    )
    batch_documents: int = Field(
        64, ge=1, le=1000, description="Documents applied together. More is faster; a stop redoes at most this many."
    )
    embed_batch_texts: int = Field(
        64,
        ge=1,
        le=2048,
        description="Chunks sent to embedding in one call. More saves calls and holds more memory.",
    )
    lease_s: float = Field(
        20.0, ge=5, le=3600, description="Seconds after which the work of a worker that fell silent is taken over."
    )
    poll_s: float = Field(
        0.5, ge=0.05, le=60, description="Seconds between looks at the queue when nobody rang: other replicas' work."
    )
    optimize_every_s: float = Field(
        30.0, ge=1, le=86_400, description="Seconds between folding fresh rows into an index that changed."
    )
    keep_unnamed_s: float = Field(
        86_400.0,
        ge=7_200,
        le=31_536_000,
        description="Seconds that an original which no document names any more is kept, twice: once where it lies and "
        "once set aside. Longer than the longest upload.",
    )
    max_waiting_documents: int = Field(
        200_000,
        ge=1,
        le=100_000_000,
        description="Accepted documents that may wait; over it writes are refused.",
    )
    max_document_bytes: int = Field(
        64 * 1024 * 1024, ge=1024, le=2**31, description="Largest original: one document, or one file of an upload."
    )
    embed_timeout_s: float = Field(60.0, ge=1, le=600, description="Longest wait for the vectors of one batch.")
    search_timeout_s: float = Field(
        10.0, ge=0.1, le=60, description="Longest wait for one judged query when generations are compared."
    )
    describe_timeout_s: float = Field(5.0, ge=0.1, le=60, description="Longest wait for the facts of a model.")


class CommandSettings(IngestSettings):
    """The same for a command, which serves nothing and needs no port."""

    port: int = Field(0, ge=0, le=65535, description="Of the service; a command takes none.")
    job_completion_index: int | None = Field(
        None,
        ge=0,
        validation_alias="JOB_COMPLETION_INDEX",
        description="Which pod of an Indexed Job this is, from 0, as Kubernetes says; it is the shard of a bulk load.",
    )
