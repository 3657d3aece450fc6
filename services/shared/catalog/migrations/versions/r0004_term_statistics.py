"""Term statistics. A generation that holds chunks already has none: what was counted of them nobody knows."""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"


def _key(length: int) -> sa.String:
    return sa.String(length).with_variant(sa.String(length, collation="C"), "postgresql")


def upgrade() -> None:
    op.add_column("generations", sa.Column("tokens", sa.BigInteger(), nullable=False, server_default="0"))
    op.add_column("generations", sa.Column("counted_revision", sa.BigInteger(), nullable=True))
    op.execute("UPDATE generations SET counted_revision = revision WHERE chunks = 0")
    op.create_table(
        "generation_terms",
        sa.Column("generation_id", _key(64), nullable=False),
        sa.Column("token", _key(200), nullable=False),
        sa.Column("chunks", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["generation_id"], ["generations.id"], name="fk_generation_terms_generation_id", ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("generation_id", "token", name="pk_generation_terms"),
    )
    op.create_table(
        "changing_documents",
        sa.Column("generation_id", _key(64), nullable=False),
        sa.Column("document_id", _key(512), nullable=False),
        sa.Column("tokens", sa.BigInteger(), nullable=False),
        sa.Column("frequencies", sa.JSON(), nullable=False),
        sa.ForeignKeyConstraint(
            ["generation_id"],
            ["generations.id"],
            name="fk_changing_documents_generation_id",
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("generation_id", "document_id", name="pk_changing_documents"),
    )


def downgrade() -> None:
    op.drop_table("changing_documents")
    op.drop_table("generation_terms")
    op.drop_column("generations", "counted_revision")
    op.drop_column("generations", "tokens")
