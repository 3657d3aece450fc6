"""The revision that a generation's index was last optimized with."""

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"


def upgrade() -> None:
    op.add_column("generations", sa.Column("optimized_revision", sa.BigInteger(), nullable=True))


def downgrade() -> None:
    op.drop_column("generations", "optimized_revision")
