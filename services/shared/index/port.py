"""What every engine does for us: the port that search reads and ingest writes through.

One contract suite (`tests/contract/index`) runs on every adapter. A generation is one built index of a collection; its
id comes from the catalog. Nothing here knows collections, or which generation is active.
"""

from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from typing import Protocol

from services.shared.index.chunk import ChunkKey, IndexedChunk, LegHit, StoredChunk, Vector
from services.shared.index.fields import FieldType
from services.shared.index.filters import Filter
from services.shared.index.precision import Precision


class Index(Protocol):
    """An engine that keeps the chunks of many generations.

    Filters are in the normal form of `filters.validate`; on a field that the generation lacks, every value is missing.
    A write is seen by every read that begins after it returned, from this process at once and from any other within a
    second. One process writes to a generation, any number read. A chunk is written whole: no read sees half of it. A
    read that runs while a chunk's vectors are replaced may miss it; ids follow from what is embedded, so that ingest
    never replaces them.

    Every method may raise DependencyUnavailable, and NotFound where it names a generation that is not there.
    """

    async def create_generation(
        self,
        generation_id: str,
        dimensions: int,
        fields: Mapping[str, FieldType],
        *,
        precision: Precision = Precision.FULL,
    ) -> None:
        """Make an empty generation, or add to the one that is there the fields that it lacks.

        So the call may be repeated after a crash, and again when a collection declares more fields.

        Raises:
            InvalidInput: the id or a field's name cannot be used, or `dimensions` is below 1.
            AlreadyExists: it is there with other dimensions, another precision, or another type for a field.
        """

    async def drop_generation(self, generation_id: str) -> None:
        """Remove a generation with all its chunks; one that is not there is as good as dropped."""

    async def generations(self) -> list[str]:
        """The ids of all generations, half-built ones too, in ascending order."""

    async def upsert(self, generation_id: str, chunks: Sequence[IndexedChunk]) -> None:
        """Write chunks, each in place of the one with its id, windows included; the last of two with one id counts.

        Raises:
            InvalidInput: vectors that are not unit rows of the generation's dimensions, or a value in the metadata that
                is not of its field's declared type. Nothing is written then.
        """

    async def delete(self, generation_id: str, chunk_ids: Iterable[str]) -> None:
        """Remove these chunks; ids that are not there are passed over."""

    async def forget_interrupted(self, generation_id: str, chunk_ids: Iterable[str]) -> None:
        """Remove what writes of these chunks left half-done when they were cut off, before they are written anew.

        An engine whose writes are whole whatever ends them does nothing. In any other these chunks are gone then.
        """

    async def optimize(self, generation_id: str) -> None:
        """Make reads fast and keyword scores exact again after many writes; for ingest, in the background.

        Until then they use document frequencies and a mean length that are off by what was written, replaced or
        deleted since. An engine may leave it at that while it is less than one chunk in fifty.
        """

    async def keyword(
        self, generation_id: str, tokens: Sequence[str], *, filter: Filter | None, limit: int, vectors: bool = True
    ) -> list[LegHit]:
        """The best `limit` chunks by BM25 (k1 1.2, b 0.75) over `analysed` that hold at least one of `tokens`.

        A token is compared whole, byte for byte, and never read as query syntax; one given twice counts twice.
        Order: score descending, then chunk id ascending, also across the cut as far as 1,000 chunks tie there.
        """

    async def nearest(
        self, generation_id: str, vector: Vector, *, filter: Filter | None, limit: int, vectors: bool = True
    ) -> list[LegHit]:
        """The `limit` chunks whose best window is nearest to `vector`, (d,) float32, one hit per chunk.

        The score is the cosine, in [-1, 1]. Order as for `keyword`.

        Raises:
            InvalidInput: `vector` has other dimensions than the generation, no direction, or a value that is no number.
        """

    async def fetch(self, generation_id: str, chunk_ids: Sequence[str], *, vectors: bool) -> list[StoredChunk]:
        """The chunks with these ids in the order asked for; ids that are not there are left out."""

    async def document_chunks(
        self, generation_id: str, document_id: str, *, vectors: bool = False
    ) -> list[StoredChunk]:
        """All chunks of one document by ordinal, then chunk id; empty when it has none here."""

    async def chunks_of(
        self, generation_id: str, document_ids: Sequence[str], *, vectors: bool = False
    ) -> dict[str, list[StoredChunk]]:
        """What `document_chunks` says of each of these documents, by id, in little more time than for one of them."""

    async def count(self, generation_id: str, filter: Filter | None = None) -> int:
        """How many chunks match; all of them without a filter."""

    async def existing(self, generation_id: str, chunk_ids: Iterable[str]) -> set[str]:
        """Those of these ids that are there."""

    def scan(self, generation_id: str) -> AsyncIterator[list[ChunkKey]]:
        """The keys of all chunks, each once, some thousand at a time, in no order.

        What is written or deleted meanwhile may be told or not.
        """

    async def close(self) -> None:
        """Let go of files and connections; no other method may be called after it."""
