"""The first schema: collections, documents, generations, jobs and their work items."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None

_UNFINISHED = sa.text("state IN ('pending', 'leased')")


def _key(length: int) -> sa.String:
    return sa.String(length).with_variant(sa.String(length, collation="C"), "postgresql")


def upgrade() -> None:
    op.create_table(
        "collections",
        sa.Column("name", _key(63), nullable=False),
        sa.Column("profile", sa.String(length=16), nullable=False),
        sa.Column("locale", sa.String(length=35), nullable=False),
        sa.Column("fields", sa.JSON(), nullable=False),
        sa.Column("settings", sa.JSON(), nullable=False),
        sa.Column("sequence", sa.BigInteger(), nullable=False),
        sa.Column("active_generation_id", _key(64), nullable=False),
        sa.Column("previous_generation_id", _key(64), nullable=True),
        sa.Column("created_at", sa.Double(), nullable=False),
        sa.PrimaryKeyConstraint("name", name="pk_collections"),
    )
    op.create_table(
        "jobs",
        sa.Column("id", _key(64), nullable=False),
        sa.Column("collection", _key(63), nullable=False),
        sa.Column("idempotency_key", sa.Text(), nullable=True),
        sa.Column("state", sa.String(length=16), nullable=False),
        sa.Column("total", sa.BigInteger(), nullable=False),
        sa.Column("reused", sa.BigInteger(), nullable=False),
        sa.Column("embedded", sa.BigInteger(), nullable=False),
        sa.Column("deleted", sa.BigInteger(), nullable=False),
        sa.Column("failed", sa.BigInteger(), nullable=False),
        sa.Column("created_at", sa.Double(), nullable=False),
        sa.Column("updated_at", sa.Double(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_jobs"),
    )
    op.create_index("ix_jobs_collection_created_at", "jobs", ["collection", "created_at"], unique=False)
    op.create_index("ix_jobs_collection_idempotency_key", "jobs", ["collection", "idempotency_key"], unique=False)
    op.create_table(
        "documents",
        sa.Column("collection", _key(63), nullable=False),
        sa.Column("id", _key(512), nullable=False),
        sa.Column("revision", sa.BigInteger(), nullable=False),
        sa.Column("deleted", sa.Boolean(), nullable=False),
        sa.Column("title", sa.Text(), nullable=False),
        sa.Column("own_title", sa.Text(), nullable=False, server_default=""),
        sa.Column("uri", sa.Text(), nullable=True),
        sa.Column("locale", sa.String(length=35), nullable=False),
        sa.Column("date", sa.String(length=10), nullable=True),
        sa.Column("metadata", sa.JSON(), nullable=False),
        sa.Column("media_type", sa.Text(), nullable=False),
        sa.Column("blob", sa.String(length=64), nullable=True),
        sa.Column("content_digest", sa.String(length=64), nullable=True),
        sa.Column("accepted_at", sa.Double(), nullable=False),
        sa.CheckConstraint(
            "deleted OR (blob IS NOT NULL AND content_digest IS NOT NULL)", name="ck_documents_put_has_original"
        ),
        sa.ForeignKeyConstraint(
            ["collection"], ["collections.name"], name="fk_documents_collection", ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("collection", "id", "revision", name="pk_documents"),
    )
    op.create_index("ix_documents_collection_revision", "documents", ["collection", "revision"], unique=True)
    op.create_table(
        "generations",
        sa.Column("id", _key(64), nullable=False),
        sa.Column("collection", _key(63), nullable=False),
        sa.Column("state", sa.String(length=16), nullable=False),
        sa.Column("manifest", sa.JSON(), nullable=False),
        sa.Column("revision", sa.BigInteger(), nullable=False),
        sa.Column("applied_sequence", sa.BigInteger(), nullable=False),
        sa.Column("documents", sa.BigInteger(), nullable=False),
        sa.Column("chunks", sa.BigInteger(), nullable=False),
        sa.Column("created_at", sa.Double(), nullable=False),
        sa.ForeignKeyConstraint(
            ["collection"], ["collections.name"], name="fk_generations_collection", ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name="pk_generations"),
    )
    op.create_index("ix_generations_collection", "generations", ["collection"], unique=False)
    op.create_table(
        "work_items",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("job_id", _key(64), nullable=False),
        sa.Column("collection", _key(63), nullable=False),
        sa.Column("document_id", _key(512), nullable=False),
        sa.Column("action", sa.String(length=16), nullable=False),
        sa.Column("revision", sa.BigInteger(), nullable=True),
        sa.Column("state", sa.String(length=16), nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("not_before", sa.Double(), nullable=False),
        sa.Column("lease_owner", sa.Text(), nullable=True),
        sa.Column("lease_until", sa.Double(), nullable=True),
        sa.Column("outcome", sa.String(length=16), nullable=True),
        sa.Column("reason", sa.Text(), nullable=True),
        sa.ForeignKeyConstraint(["job_id"], ["jobs.id"], name="fk_work_items_job_id", ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name="pk_work_items"),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_work_items_job_id", "work_items", ["job_id"], unique=False)
    op.create_index(
        "ix_work_items_unfinished",
        "work_items",
        ["id"],
        unique=False,
        sqlite_where=_UNFINISHED,
        postgresql_where=_UNFINISHED,
    )
    op.create_index(
        "ix_work_items_unfinished_of_collection",
        "work_items",
        ["collection", "revision"],
        unique=False,
        sqlite_where=_UNFINISHED,
        postgresql_where=_UNFINISHED,
    )
    op.create_index(
        "ix_work_items_unfinished_of_document",
        "work_items",
        ["collection", "document_id", "id"],
        unique=False,
        sqlite_where=_UNFINISHED,
        postgresql_where=_UNFINISHED,
    )
    op.create_table(
        "generation_documents",
        sa.Column("generation_id", _key(64), nullable=False),
        sa.Column("document_id", _key(512), nullable=False),
        sa.Column("revision", sa.BigInteger(), nullable=False),
        sa.Column("chunk_ids", sa.JSON(), nullable=False),
        sa.Column("chunks", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(
            ["generation_id"], ["generations.id"], name="fk_generation_documents_generation_id", ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("generation_id", "document_id", name="pk_generation_documents"),
    )


def downgrade() -> None:
    for table in ("generation_documents", "work_items", "generations", "documents", "jobs", "collections"):
        op.drop_table(table)
