"""The knobs of the search service; how a collection is searched and ranked comes with each call."""

from pydantic import Field, SecretStr

from services.shared.index.settings import IndexSettings
from services.shared.runtime.settings import settings_of


class SearchSettings(IndexSettings):
    """Where search finds what it needs, and how long it waits for each of them.

    The timeouts stand far above what a part needs when it is well: they decide how long a stalled part holds up an
    answer that does without it.
    """

    model_config = settings_of("search")

    embedding_target: str = Field(min_length=1, description="host:port of the embedding service.")
    ranking_target: str = Field(min_length=1, description="host:port of the ranking service.")
    catalog_url: SecretStr = Field(
        min_length=1,
        description="Address of the catalog: sqlite:////folder/catalog.db on one machine, else "
        "postgresql://user:password@host:port/database; one process holds at most 8 connections to it.",
    )
    catalog_timeout_s: float = Field(
        0.5, gt=0, le=10, description="Longest wait for the catalog; then what it last said holds."
    )
    embed_timeout_s: float = Field(
        2.0, gt=0, le=60, description="Longest wait for a query's vector; a busy CPU takes most of a second."
    )
    keyword_timeout_s: float = Field(2.0, gt=0, le=60, description="Longest wait for the keyword leg.")
    vector_timeout_s: float = Field(
        2.0, gt=0, le=60, description="Longest wait for the vector leg, once the query's vector is there."
    )
    rank_timeout_s: float = Field(0.5, gt=0, le=60, description="Longest wait for ranking; then fused order stands.")
    reserve_s: float = Field(
        0.02,
        ge=0,
        le=1,
        description="Of a call's deadline, kept from the legs for what follows them; more of it gives up on legs that "
        "are merely slow.",
    )
    catalog_memory_s: float = Field(
        0.0,
        ge=0,
        le=0.5,
        description="How long what the catalog said holds without asking again. 0 asks at each search, for half a "
        "millisecond: else a response's revision may be behind its text, and a promotion is seen this much later.",
    )
    cursor_secret: SecretStr | None = Field(
        None,
        min_length=16,
        description="Signs cursors; the same for all replicas. Unset: a random one, so cursors end with the process.",
    )
