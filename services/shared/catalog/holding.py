"""What a generation holds of documents, its counts and its term statistics, changed together."""

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import and_, case, delete, insert, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from services.shared.catalog.schema import generation_documents, generations
from services.shared.catalog.term_statistics import DocumentTerms, count_documents, is_counted

_DOCUMENTS_PER_STATEMENT = 1_000


@dataclass(frozen=True, slots=True)
class HeldDocument:
    """This revision of a document as these chunks, or nothing of it when `revision` is None."""

    document_id: str
    revision: int | None
    chunk_ids: Sequence[str]
    terms: DocumentTerms


async def hold_documents(connection: AsyncConnection, generation_id: str, held: Sequence[HeldDocument]) -> None:
    """Let the generation hold these and nothing else of their documents, no two of one document."""
    chunks_before = await _take(connection, generation_id, [one.document_id for one in held])
    stays = [one for one in held if one.revision is not None]
    if stays:
        await connection.execute(
            insert(generation_documents),
            [
                {
                    "generation_id": generation_id,
                    "document_id": one.document_id,
                    "revision": one.revision,
                    "chunk_ids": list(one.chunk_ids),
                    "chunks": len(one.chunk_ids),
                }
                for one in stays
            ],
        )
    held_before = {document_id for document_id, chunks in chunks_before.items() if chunks}
    terms = {one.document_id: one.terms for one in held}
    more_tokens = await count_documents(connection, generation_id, terms, held_before=held_before)
    revision = generations.c.revision + len(held)
    await connection.execute(
        update(generations)
        .where(generations.c.id == generation_id)
        .values(
            revision=revision,
            counted_revision=case((is_counted, revision)),
            tokens=generations.c.tokens + more_tokens,
            documents=generations.c.documents + len(stays) - len(chunks_before),
            chunks=generations.c.chunks + sum(len(one.chunk_ids) for one in held) - sum(chunks_before.values()),
        )
    )


async def _take(connection: AsyncConnection, generation_id: str, document_ids: Sequence[str]) -> dict[str, int]:
    """How many chunks the generation held of each of the documents that it held, and that it holds no more."""
    held: dict[str, int] = {}
    for start in range(0, len(document_ids), _DOCUMENTS_PER_STATEMENT):
        here = and_(
            generation_documents.c.generation_id == generation_id,
            generation_documents.c.document_id.in_(document_ids[start : start + _DOCUMENTS_PER_STATEMENT]),
        )
        rows = await connection.execute(
            select(generation_documents.c.document_id, generation_documents.c.chunks).where(here)
        )
        if some := {row.document_id: row.chunks for row in rows}:
            await connection.execute(delete(generation_documents).where(here))
        held |= some
    return held
