"""What a generation holds of a document, its counts and its term statistics, changed together."""

from collections.abc import Sequence

from sqlalchemy import and_, case, delete, insert, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from services.shared.catalog.schema import generation_documents, generations
from services.shared.catalog.term_statistics import DocumentTerms, count_document, is_counted


async def hold_document(
    connection: AsyncConnection,
    generation_id: str,
    document_id: str,
    revision: int | None,
    chunk_ids: Sequence[str],
    terms: DocumentTerms,
) -> None:
    """Let the generation hold this revision of the document, or nothing of it when that is None."""
    here = and_(
        generation_documents.c.generation_id == generation_id, generation_documents.c.document_id == document_id
    )
    chunks_before = await connection.scalar(select(generation_documents.c.chunks).where(here))
    values = {"revision": revision, "chunk_ids": list(chunk_ids), "chunks": len(chunk_ids)}
    if revision is None:
        await connection.execute(delete(generation_documents).where(here))
    elif chunks_before is not None:
        await connection.execute(update(generation_documents).where(here).values(**values))
    else:
        await connection.execute(
            insert(generation_documents).values(generation_id=generation_id, document_id=document_id, **values)
        )
    more_tokens = await count_document(connection, generation_id, document_id, terms, chunks_before=chunks_before or 0)
    await connection.execute(
        update(generations)
        .where(generations.c.id == generation_id)
        .values(
            revision=generations.c.revision + 1,
            counted_revision=case((is_counted, generations.c.revision + 1)),
            tokens=generations.c.tokens + more_tokens,
            documents=generations.c.documents + int(revision is not None) - int(chunks_before is not None),
            chunks=generations.c.chunks + len(chunk_ids) - (chunks_before or 0),
        )
    )
