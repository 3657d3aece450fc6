"""Runs the migrations on the connection that `database.migrate` hands over, inside its transaction."""

from alembic import context

from services.shared.catalog.schema import metadata

context.configure(connection=context.config.attributes["connection"], target_metadata=metadata)
context.run_migrations()
