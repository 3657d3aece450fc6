"""A collection in a catalog of its own, whose generation holds a corpus that was loaded straight into the index."""

import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import insert, update

from loadtests.search_bench.ready_embedding import MODEL, WEIGHTS_SHA256
from plumbline.search.v1 import search_pb2
from services.ingest.collections import CollectionKeeper
from services.ingest.ports import Model
from services.local.failure import Failure
from services.shared.catalog.catalog import Catalog
from services.shared.catalog.database import Database
from services.shared.catalog.declaration import Declaration, declare
from services.shared.catalog.profiles import Overrides
from services.shared.catalog.schema import generation_terms, generations
from services.shared.clients.search_settings import ranking_to_proto, retrieval_to_proto
from services.shared.index.chunk import IndexedChunk, Matrix
from services.shared.index.fields import FieldType
from services.shared.index.port import Index

_ROWS_AT_ONCE = 5_000


class TermCounts:
    """What a generation's statistics are of: chunks, tokens, and for each token the chunks that hold it."""

    def __init__(self) -> None:
        self.chunks = 0
        self.tokens = 0
        self.frequencies: Counter[str] = Counter()

    def add(self, chunks: Sequence[IndexedChunk]) -> None:
        """Count these chunks."""
        for chunk in chunks:
            tokens = chunk.analysed.split()
            self.chunks += 1
            self.tokens += len(tokens)
            self.frequencies.update(set(tokens))


@dataclass(frozen=True, slots=True)
class Collection:
    """A collection that search can serve, and the catalog that names it."""

    declaration: Declaration
    generation_id: str
    catalog_file: Path

    def request(self, query: str, *, limit: int = 10) -> search_pb2.SearchRequest:
        """A search with the collection's own settings, as the gateway sends it."""
        settings = self.declaration.resolved_settings()
        return search_pb2.SearchRequest(
            collection=self.declaration.name,
            query=query,
            limit=limit,
            retrieval=retrieval_to_proto(settings.retrieval, self.declaration),
            ranking=ranking_to_proto(settings.ranking),
        )


class _KnownModel:
    """The facts of the model that made the vectors; embeds nothing."""

    def __init__(self, dimensions: int) -> None:
        self._model = Model(MODEL, WEIGHTS_SHA256, dimensions, lambda texts: [len(text.split()) for text in texts])

    async def model(self, name: str) -> Model:
        """See `Embedder.model`."""
        return self._model

    async def embed(self, texts: Sequence[str], *, model: str, dimensions: int) -> list[Matrix]:
        """Not for a corpus whose vectors are ready."""
        raise Failure("a corpus whose vectors are ready embeds nothing")


async def make_collection(
    index: Index,
    catalog_file: Path,
    *,
    profile: str,
    dimensions: int,
    fields: dict[str, FieldType],
    settings: Overrides,
) -> Collection:
    """A new collection with an empty generation in the index."""
    declaration = declare("bench", profile=profile, locale="en", fields=dict(fields), settings=settings)
    catalog = await Catalog.open(_url(catalog_file))
    try:
        keeper = CollectionKeeper(catalog, index, _KnownModel(dimensions), model="", clock=time.time)
        made, _ = await keeper.create(declaration)
        return Collection(declaration, made.active.id, catalog_file)
    finally:
        await catalog.close()


async def keep_statistics(collection: Collection, counts: TermCounts) -> None:
    """Write the term statistics that ingest would have counted."""
    database = await Database.open(_url(collection.catalog_file))
    rows = [
        {"generation_id": collection.generation_id, "token": token, "chunks": chunks}
        for token, chunks in counts.frequencies.items()
    ]
    counted = {
        "chunks": counts.chunks, "tokens": counts.tokens, "counted_revision": generations.c.revision
    }  # fmt: skip
    try:
        async with database.write() as connection:
            for start in range(0, len(rows), _ROWS_AT_ONCE):
                await connection.execute(insert(generation_terms), rows[start : start + _ROWS_AT_ONCE])
            await connection.execute(
                update(generations).where(generations.c.id == collection.generation_id).values(counted)
            )
    finally:
        await database.close()


def _url(file: Path) -> str:
    return f"sqlite:///{file}"
