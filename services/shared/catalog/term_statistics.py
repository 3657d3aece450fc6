"""Term statistics of generations: how many chunks hold a token, and how many chunks and tokens there are.

They follow every applied change in the transaction that applies it. What a change takes away is known from the index
before it is touched; `remember` keeps that until the change is applied, so an attempt that ended between the two leaves
the counts exact. Statistics carry the generation's revision: one that was changed by a process that does not count
them, or that held chunks before they were counted, has none until it is built anew.
"""

import json
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from sqlalchemy import and_, delete, insert, select, text, true, update
from sqlalchemy.ext.asyncio import AsyncConnection

from services.shared.catalog.database import Database
from services.shared.catalog.schema import changing_documents, generation_documents, generation_terms, generations


@dataclass(frozen=True, slots=True)
class DocumentTerms:
    """What a document adds to the statistics: its chunks' tokens, and for each token the chunks that hold it."""

    tokens: int = 0
    frequencies: Mapping[str, int] = field(default_factory=dict)

    @classmethod
    def of(cls, analysed: Iterable[str]) -> "DocumentTerms":
        """Those of a document with these chunks, each the tokens of one, parted by single spaces."""
        tokens, frequencies = 0, Counter[str]()
        for chunk in analysed:
            of_chunk = chunk.split()
            tokens += len(of_chunk)
            frequencies.update(set(of_chunk))
        return cls(tokens, frequencies)

    def less(self, other: "DocumentTerms") -> "DocumentTerms":
        """What is to be added to `other` to come to these; only tokens that differ, and below 0 where they fall."""
        mine, others = self.frequencies, other.frequencies
        changed = {token: count for token in mine if (count := mine[token] - others.get(token, 0))}
        gone = {token: -count for token, count in others.items() if token not in mine}
        return DocumentTerms(self.tokens - other.tokens, changed | gone)


@dataclass(frozen=True, slots=True)
class TermStatistics:
    """The statistics of one generation for some tokens; one that is in no chunk is not in `frequencies`."""

    chunks: int
    tokens: int
    frequencies: Mapping[str, int]


_NOTHING = DocumentTerms()
# SQLite takes 32,766 parameters in a statement, and a book has more different tokens.
_TOKENS_PER_STATEMENT = _IDS_PER_STATEMENT = 1_000
_ROWS_PER_TRANSACTION = 20_000

is_counted = generations.c.counted_revision == generations.c.revision
"""Whether a row of the table of generations has statistics."""


class Terms:
    """The term statistics of all generations."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def look_up(self, generation_id: str, tokens: Sequence[str]) -> TermStatistics | None:
        """The statistics for `tokens`, in one statement; None when the generation has none or is not there."""
        asked = and_(generation_terms.c.generation_id == generations.c.id, generation_terms.c.token.in_(tokens))
        query = (
            select(generations.c.chunks, generations.c.tokens, generation_terms.c.token, generation_terms.c.chunks)
            .outerjoin_from(generations, generation_terms, asked)
            .where(generations.c.id == generation_id, is_counted)
        )
        async with self._database.read() as connection:
            rows = (await connection.execute(query)).all()
        if not rows:
            return None
        chunks, all_tokens, *_ = rows[0]
        return TermStatistics(chunks, all_tokens, {token: count for _, _, token, count in rows if token is not None})

    async def missing(self) -> tuple[str, ...]:
        """The generations without statistics, by id."""
        query = select(generations.c.id).where(is_counted.is_not(true())).order_by(generations.c.id)
        async with self._database.read() as connection:
            return tuple((await connection.execute(query)).scalars())


async def remember(connection: AsyncConnection, generation_id: str, standing: Mapping[str, DocumentTerms]) -> None:
    """Keep what the generation's statistics count of the documents in `standing`, before their chunks are touched.

    `standing` is what the index holds of them. What an earlier attempt kept stays: since then the index may hold chunks
    that were never applied. So it does of a document that the generation does not hold, of which nothing is counted.
    """
    ids = list(standing)
    held = select(generation_documents.c.document_id).where(
        generation_documents.c.generation_id == generation_id,
        generation_documents.c.document_id.in_(ids),
        generation_documents.c.chunks > 0,
    )
    kept = select(changing_documents.c.document_id).where(
        changing_documents.c.generation_id == generation_id, changing_documents.c.document_id.in_(ids)
    )
    new = set((await connection.execute(held)).scalars()) - set((await connection.execute(kept)).scalars())
    if new:
        await connection.execute(
            insert(changing_documents),
            [
                {
                    "generation_id": generation_id,
                    "document_id": document_id,
                    "tokens": standing[document_id].tokens,
                    "frequencies": dict(standing[document_id].frequencies),
                }
                for document_id in sorted(new)
            ],
        )


async def count_documents(
    connection: AsyncConnection,
    generation_id: str,
    terms: Mapping[str, DocumentTerms],
    *,
    held_before: Collection[str],
) -> int:
    """Let the statistics count `terms` of documents instead of what they counted; how many more tokens that is.

    `held_before` are those of which the generation held chunks. When it did and nothing was kept, the terms are the
    same as before: `remember` is for documents whose terms change. A generation without statistics stays so.
    """
    kept = await _take_kept(connection, generation_id, list(terms))
    tokens, frequencies = 0, Counter[str]()
    for document_id, now in terms.items():
        before = kept.get(document_id, now) if document_id in held_before else _NOTHING
        change = now.less(before)
        tokens += change.tokens
        frequencies.update(change.frequencies)
    await _add(connection, generation_id, {token: count for token, count in frequencies.items() if count})
    return tokens


async def _take_kept(
    connection: AsyncConnection, generation_id: str, document_ids: Sequence[str]
) -> dict[str, DocumentTerms]:
    """What was kept of these documents, which is forgotten with this."""
    kept: dict[str, DocumentTerms] = {}
    for start in range(0, len(document_ids), _IDS_PER_STATEMENT):
        here = and_(
            changing_documents.c.generation_id == generation_id,
            changing_documents.c.document_id.in_(document_ids[start : start + _IDS_PER_STATEMENT]),
        )
        rows = (await connection.execute(select(changing_documents).where(here))).all()
        if rows:
            await connection.execute(delete(changing_documents).where(here))
        kept |= {row.document_id: DocumentTerms(row.tokens, row.frequencies) for row in rows}
    return kept


async def drop_terms(database: Database, generation_ids: Sequence[str]) -> None:
    """Let generations that are to go be without statistics, in transactions short enough for others between them.

    A generation of 3 million chunks has 3 million rows, which take half a minute to delete; SQLite has one writer, and
    others wait five seconds for it.
    """
    for generation_id in generation_ids:
        here = generation_terms.c.generation_id == generation_id
        some = select(generation_terms.c.token).where(here).limit(_ROWS_PER_TRANSACTION)
        async with database.write() as connection:
            await connection.execute(
                update(generations).where(generations.c.id == generation_id).values(counted_revision=None)
            )
        deleted = _ROWS_PER_TRANSACTION
        while deleted == _ROWS_PER_TRANSACTION:
            async with database.write() as connection:
                done = await connection.execute(
                    delete(generation_terms).where(here, generation_terms.c.token.in_(some))
                )
                deleted = done.rowcount


# On SQLite, where a statement is no round trip, one for each of 157 tokens takes 0.8 ms, and one over an object of them
# all 1.3 ms. On PostgreSQL 157 statements would take longer than the one.
_ADD_ONE_ON_SQLITE = (
    "INSERT INTO generation_terms (generation_id, token, chunks)"
    " SELECT ?1, ?2, ?3 FROM generations WHERE id = ?1 AND counted_revision = revision"
    " ON CONFLICT (generation_id, token) DO UPDATE SET chunks = generation_terms.chunks + excluded.chunks"
)
_ADD_ALL_ON_POSTGRESQL = text(
    "INSERT INTO generation_terms (generation_id, token, chunks)"
    " SELECT id, key, CAST(value AS BIGINT) FROM generations, json_each_text(CAST(:counts AS json))"
    " WHERE id = :generation_id AND counted_revision = revision"
    " ON CONFLICT (generation_id, token) DO UPDATE SET chunks = generation_terms.chunks + excluded.chunks"
)


async def _add(connection: AsyncConnection, generation_id: str, changes: Mapping[str, int]) -> None:
    if not changes:
        return
    if connection.dialect.name == "sqlite":
        rows = [(generation_id, token, count) for token, count in changes.items()]
        await connection.exec_driver_sql(_ADD_ONE_ON_SQLITE, rows)
    else:
        parameters = {"generation_id": generation_id, "counts": json.dumps(changes)}
        await connection.execute(_ADD_ALL_ON_POSTGRESQL, parameters)
    falling = [token for token, count in changes.items() if count < 0]
    for start in range(0, len(falling), _TOKENS_PER_STATEMENT):
        await connection.execute(
            delete(generation_terms).where(
                generation_terms.c.generation_id == generation_id,
                generation_terms.c.token.in_(falling[start : start + _TOKENS_PER_STATEMENT]),
                generation_terms.c.chunks == 0,
            )
        )
