"""The tables of the catalog. Times are seconds since the epoch (UTC), digests are lower-case hex."""

from sqlalchemy import (
    JSON,
    BigInteger,
    Boolean,
    CheckConstraint,
    Column,
    ColumnElement,
    Double,
    ForeignKey,
    Index,
    Integer,
    MetaData,
    String,
    Table,
    Text,
    false,
    literal_column,
    text,
)
from sqlalchemy.sql import FromClause

metadata = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "ck": "ck_%(table_name)s_%(constraint_name)s",
        "fk": "fk_%(table_name)s_%(column_0_N_name)s",
        "pk": "pk_%(table_name)s",
    }
)


def key(length: int) -> String:
    """The type of an id: sorted by code points, in PostgreSQL also where the database sorts by a language's rules."""
    return String(length).with_variant(String(length, collation="C"), "postgresql")


collections = Table(
    "collections",
    metadata,
    Column("name", key(63), primary_key=True),
    Column("profile", String(16), nullable=False),
    Column("locale", String(35), nullable=False),
    Column("fields", JSON, nullable=False),
    Column("settings", JSON, nullable=False),
    # The number of the newest change; documents take their revisions from it.
    Column("sequence", BigInteger, nullable=False),
    # No foreign keys: the two tables would need each other to exist first.
    Column("active_generation_id", key(64), nullable=False),
    Column("previous_generation_id", key(64)),
    Column("created_at", Double, nullable=False),
)

# One row for each accepted change of a document. The one of the highest revision that has not failed is what it is now.
documents = Table(
    "documents",
    metadata,
    Column("collection", ForeignKey("collections.name", ondelete="CASCADE"), primary_key=True),
    Column("id", key(512), primary_key=True),
    Column("revision", BigInteger, primary_key=True),
    # A deletion is a row too; it has no original.
    Column("deleted", Boolean, nullable=False),
    Column("title", Text, nullable=False),
    # The title in the content itself, known once it was read.
    Column("own_title", Text, nullable=False, server_default=""),
    Column("uri", Text),
    Column("locale", String(35), nullable=False),
    Column("date", String(10)),
    Column("metadata", JSON, nullable=False),
    Column("media_type", Text, nullable=False),
    Column("blob", String(64), index=True),
    Column("content_digest", String(64)),
    # Bytes of the original.
    Column("size", BigInteger, nullable=False, server_default="0"),
    # The change failed for good.
    Column("failed", Boolean, nullable=False, server_default=false()),
    Column("accepted_at", Double, nullable=False),
    CheckConstraint("deleted OR (blob IS NOT NULL AND content_digest IS NOT NULL)", name="put_has_original"),
    Index(None, "collection", "revision", unique=True),
)

generations = Table(
    "generations",
    metadata,
    Column("id", key(64), primary_key=True),
    Column("collection", ForeignKey("collections.name", ondelete="CASCADE"), nullable=False, index=True),
    Column("state", String(16), nullable=False),
    Column("manifest", JSON, nullable=False),
    # Rises with every applied change.
    Column("revision", BigInteger, nullable=False),
    # Every change up to this number is applied or has failed for good.
    Column("applied_sequence", BigInteger, nullable=False),
    Column("documents", BigInteger, nullable=False),
    Column("chunks", BigInteger, nullable=False),
    # Tokens of all its chunks, repetitions included.
    Column("tokens", BigInteger, nullable=False, server_default="0"),
    # The revision as of which `tokens` and the frequencies below are right; null or behind: there are no statistics.
    Column("counted_revision", BigInteger),
    # The revision that the index was last optimized with; null: never.
    Column("optimized_revision", BigInteger),
    Column("created_at", Double, nullable=False),
    # The job that builds it, or built it; null for the one that began with its collection.
    Column("job_id", key(64)),
)

# What a generation that is being built does not hold yet.
building_documents = Table(
    "building_documents",
    metadata,
    Column("generation_id", ForeignKey("generations.id", ondelete="CASCADE"), primary_key=True),
    Column("document_id", key(512), primary_key=True),
    Column("collection", key(63), nullable=False),
    Column("attempts", Integer, nullable=False),
    Column("not_before", Double, nullable=False),
    Column("lease_owner", Text),
    Column("lease_until", Double),
    Index(None, "collection", "document_id"),
)

# Which revision of a document a generation holds, and as which chunks.
generation_documents = Table(
    "generation_documents",
    metadata,
    Column("generation_id", ForeignKey("generations.id", ondelete="CASCADE"), primary_key=True),
    Column("document_id", key(512), primary_key=True),
    Column("revision", BigInteger, nullable=False),
    Column("chunk_ids", JSON, nullable=False),
    Column("chunks", Integer, nullable=False),
)

# How many chunks of a generation hold a token; 1 or more. With row ids of its own, on purpose: rows then stand in the
# order in which tokens appeared first, so the frequent ones, which every document counts up, share few pages.
generation_terms = Table(
    "generation_terms",
    metadata,
    Column("generation_id", ForeignKey("generations.id", ondelete="CASCADE"), primary_key=True),
    Column("token", key(200), primary_key=True),
    Column("chunks", BigInteger, nullable=False),
)

# What a generation's statistics count of a document that is being changed: the index may hold its new chunks already.
changing_documents = Table(
    "changing_documents",
    metadata,
    Column("generation_id", ForeignKey("generations.id", ondelete="CASCADE"), primary_key=True),
    Column("document_id", key(512), primary_key=True),
    Column("tokens", BigInteger, nullable=False),
    # Token -> chunks of the document that hold it.
    Column("frequencies", JSON, nullable=False),
)

# Judged queries; a null locale is the collection's.
judgments = Table(
    "judgments",
    metadata,
    Column("collection", ForeignKey("collections.name", ondelete="CASCADE"), primary_key=True),
    Column("id", key(512), primary_key=True),
    Column("query", Text, nullable=False),
    Column("locale", String(35)),
    Column("filter", JSON(none_as_null=True)),
    # Document id -> grade.
    Column("relevance", JSON, nullable=False),
)

# Jobs outlive their collection, so that whoever waits for one learns that it was cancelled.
jobs = Table(
    "jobs",
    metadata,
    Column("id", key(64), primary_key=True),
    Column("collection", key(63), nullable=False),
    Column("idempotency_key", Text),
    Column("state", String(16), nullable=False),
    Column("total", BigInteger, nullable=False),
    Column("reused", BigInteger, nullable=False),
    Column("embedded", BigInteger, nullable=False),
    Column("deleted", BigInteger, nullable=False),
    Column("failed", BigInteger, nullable=False),
    Column("created_at", Double, nullable=False),
    Column("updated_at", Double, nullable=False),
    Index(None, "collection", "created_at"),
    Index(None, "collection", "idempotency_key"),
)

_UNFINISHED = text("state IN ('pending', 'leased')")

work_items = Table(
    "work_items",
    metadata,
    # Rises in the order of acceptance, over all collections.
    Column("id", BigInteger().with_variant(Integer, "sqlite"), primary_key=True),
    Column("job_id", ForeignKey("jobs.id", ondelete="CASCADE"), nullable=False, index=True),
    Column("collection", key(63), nullable=False),
    Column("document_id", key(512), nullable=False),
    Column("action", String(16), nullable=False),
    # The change's number; null where accepting changed nothing.
    Column("revision", BigInteger),
    Column("state", String(16), nullable=False),
    Column("attempts", Integer, nullable=False),
    Column("not_before", Double, nullable=False),
    Column("lease_owner", Text),
    Column("lease_until", Double),
    Column("outcome", String(16)),
    Column("reason", Text),
    # Partial, because the few unfinished items must be found among millions of finished ones.
    Index("ix_work_items_unfinished", "id", sqlite_where=_UNFINISHED, postgresql_where=_UNFINISHED),
    Index(
        "ix_work_items_unfinished_of_document",
        "collection",
        "document_id",
        "id",
        sqlite_where=_UNFINISHED,
        postgresql_where=_UNFINISHED,
    ),
    Index(
        "ix_work_items_unfinished_of_collection",
        "collection",
        "revision",
        sqlite_where=_UNFINISHED,
        postgresql_where=_UNFINISHED,
    ),
    sqlite_autoincrement=True,
)


def is_unfinished(items: FromClause) -> ColumnElement[bool]:
    """Whether an item of `items` (the table or an alias) is still to be done.

    Spelled with literals: SQLite takes a partial index only for a condition that it can compare word for word.
    """
    return items.c.state.in_([literal_column("'pending'"), literal_column("'leased'")])
