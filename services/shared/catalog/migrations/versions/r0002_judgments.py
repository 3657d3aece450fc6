"""Judged queries of collections."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"


def _key(length: int) -> sa.String:
    return sa.String(length).with_variant(sa.String(length, collation="C"), "postgresql")


def upgrade() -> None:
    op.create_table(
        "judgments",
        sa.Column("collection", _key(63), nullable=False),
        sa.Column("id", _key(512), nullable=False),
        sa.Column("query", sa.Text(), nullable=False),
        sa.Column("locale", sa.String(length=35), nullable=True),
        sa.Column("filter", sa.JSON(none_as_null=True), nullable=True),
        sa.Column("relevance", sa.JSON(), nullable=False),
        sa.ForeignKeyConstraint(
            ["collection"], ["collections.name"], name="fk_judgments_collection", ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("collection", "id", name="pk_judgments"),
    )


def downgrade() -> None:
    op.drop_table("judgments")
