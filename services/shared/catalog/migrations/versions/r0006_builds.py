"""Documents that a generation which is being built does not hold yet, and the job that builds it."""

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"


def _key(length: int) -> sa.String:
    return sa.String(length).with_variant(sa.String(length, collation="C"), "postgresql")


def upgrade() -> None:
    op.add_column("generations", sa.Column("job_id", _key(64), nullable=True))
    op.create_table(
        "building_documents",
        sa.Column("generation_id", _key(64), nullable=False),
        sa.Column("document_id", _key(512), nullable=False),
        sa.Column("collection", _key(63), nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("not_before", sa.Double(), nullable=False),
        sa.Column("lease_owner", sa.Text(), nullable=True),
        sa.Column("lease_until", sa.Double(), nullable=True),
        sa.ForeignKeyConstraint(
            ["generation_id"], ["generations.id"], name="fk_building_documents_generation_id", ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("generation_id", "document_id", name="pk_building_documents"),
    )
    op.create_index("ix_building_documents_collection_document_id", "building_documents", ["collection", "document_id"])


def downgrade() -> None:
    op.drop_table("building_documents")
    op.drop_column("generations", "job_id")
