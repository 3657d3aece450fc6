"""Revisions that failed for good, and the sizes of originals."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    op.add_column("documents", sa.Column("size", sa.BigInteger(), nullable=False, server_default="0"))
    op.add_column("documents", sa.Column("failed", sa.Boolean(), nullable=False, server_default=sa.false()))
    op.execute(
        "UPDATE documents SET failed = true WHERE EXISTS (SELECT 1 FROM work_items WHERE work_items.state = 'dead'"
        " AND work_items.collection = documents.collection AND work_items.document_id = documents.id"
        " AND work_items.revision = documents.revision)"
    )


def downgrade() -> None:
    op.drop_column("documents", "failed")
    op.drop_column("documents", "size")
