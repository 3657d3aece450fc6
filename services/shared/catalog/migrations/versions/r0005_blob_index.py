"""An index by which the originals that no revision names are found."""

from alembic import op

revision = "0005"
down_revision = "0004"


def upgrade() -> None:
    op.create_index("ix_documents_blob", "documents", ["blob"], unique=False)


def downgrade() -> None:
    op.drop_index("ix_documents_blob", "documents")
