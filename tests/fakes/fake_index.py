"""The index in memory: exact, the same BM25 as the embedded engine, and with faults on demand."""

import asyncio
import math
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields

from services.shared.index.chunk import ChunkKey, IndexedChunk, LegHit, StoredChunk, Vector
from services.shared.index.fields import BUILT_IN_FIELDS, FieldType, FieldValue, comparable
from services.shared.index.filters import Filter, matches
from services.shared.index.precision import Precision
from services.shared.runtime.errors import NotFound

Fault = Callable[[], Awaitable[None]]

_K1, _B = 1.2, 0.75


async def hangs() -> None:
    """A fault: no answer, ever."""
    await asyncio.Event().wait()


def raises(error: Exception) -> Fault:
    """A fault: this error."""

    async def fail() -> None:
        raise error

    return fail


@dataclass(slots=True)
class _Generation:
    fields: Mapping[str, FieldType]
    chunks: dict[str, IndexedChunk] = field(default_factory=dict)


class FakeIndex:
    """`Index` in memory.

    `faults` holds what happens first in a method, by its name; `calls` the methods called, `in_flight` how many of them
    have not ended.
    """

    def __init__(self) -> None:
        self._generations: dict[str, _Generation] = {}
        self.faults: dict[str, Fault] = {}
        self.calls: list[str] = []
        self.in_flight = 0

    async def create_generation(
        self,
        generation_id: str,
        dimensions: int,
        fields: Mapping[str, FieldType],
        *,
        precision: Precision = Precision.FULL,
    ) -> None:
        self._generations.setdefault(generation_id, _Generation(fields))

    async def drop_generation(self, generation_id: str) -> None:
        self._generations.pop(generation_id, None)

    async def generations(self) -> list[str]:
        await self._called("generations")
        return sorted(self._generations)

    async def upsert(self, generation_id: str, chunks: Sequence[IndexedChunk]) -> None:
        self._generation(generation_id).chunks.update({chunk.chunk_id: chunk for chunk in chunks})

    async def delete(self, generation_id: str, chunk_ids: Iterable[str]) -> None:
        for chunk_id in chunk_ids:
            self._generation(generation_id).chunks.pop(chunk_id, None)

    async def forget_interrupted(self, generation_id: str, chunk_ids: Iterable[str]) -> None:
        pass

    async def optimize(self, generation_id: str) -> None:
        pass

    async def keyword(
        self, generation_id: str, tokens: Sequence[str], *, filter: Filter | None, limit: int, vectors: bool = True
    ) -> list[LegHit]:
        await self._called("keyword")
        generation = self._generation(generation_id)
        counted = {chunk.chunk_id: Counter(chunk.analysed.split()) for chunk in generation.chunks.values()}
        mean = sum(count.total() for count in counted.values()) / max(len(counted), 1)
        found_in = Counter(token for count in counted.values() for token in count)

        def bm25(chunk: IndexedChunk) -> float:
            count = counted[chunk.chunk_id]
            norm = _K1 * (1 - _B + _B * count.total() / mean)
            return sum(
                math.log(1 + (len(counted) - found_in[token] + 0.5) / (found_in[token] + 0.5))
                * count[token] * (_K1 + 1) / (count[token] + norm)
                for token in tokens if count[token]
            )  # fmt: skip

        return self._best(generation, filter, limit, bm25, least=0.0, vectors=vectors)

    async def nearest(
        self, generation_id: str, vector: Vector, *, filter: Filter | None, limit: int, vectors: bool = True
    ) -> list[LegHit]:
        await self._called("nearest")

        def cosine(chunk: IndexedChunk) -> float:
            return float((chunk.vectors @ vector).max())

        return self._best(self._generation(generation_id), filter, limit, cosine, least=-2.0, vectors=vectors)

    async def fetch(self, generation_id: str, chunk_ids: Sequence[str], *, vectors: bool) -> list[StoredChunk]:
        await self._called("fetch")
        chunks = self._generation(generation_id).chunks
        return [chunks[chunk_id] for chunk_id in chunk_ids if chunk_id in chunks]

    async def document_chunks(
        self, generation_id: str, document_id: str, *, vectors: bool = False
    ) -> list[StoredChunk]:
        await self._called("document_chunks")
        chunks = self._generation(generation_id).chunks.values()
        of_document = [chunk for chunk in chunks if chunk.document_id == document_id]
        return sorted(of_document, key=lambda chunk: (chunk.ordinal, chunk.chunk_id))

    async def chunks_of(
        self, generation_id: str, document_ids: Sequence[str], *, vectors: bool = False
    ) -> dict[str, list[StoredChunk]]:
        return {id_: await self.document_chunks(generation_id, id_, vectors=vectors) for id_ in document_ids}

    async def count(self, generation_id: str, filter: Filter | None = None) -> int:
        await self._called("count")
        generation = self._generation(generation_id)
        return sum(_passes(chunk, filter, generation.fields) for chunk in generation.chunks.values())

    async def existing(self, generation_id: str, chunk_ids: Iterable[str]) -> set[str]:
        return set(chunk_ids) & set(self._generation(generation_id).chunks)

    async def scan(self, generation_id: str) -> AsyncIterator[list[ChunkKey]]:
        chunks = self._generation(generation_id).chunks.values()
        yield [ChunkKey(chunk.chunk_id, chunk.document_id, chunk.revision) for chunk in chunks]

    async def close(self) -> None:
        pass

    async def _called(self, method: str) -> None:
        self.calls.append(method)
        if fault := self.faults.get(method):
            self.in_flight += 1
            try:
                await fault()
            finally:
                self.in_flight -= 1

    def _generation(self, generation_id: str) -> _Generation:
        if generation_id not in self._generations:
            raise NotFound(f"generation '{generation_id}' is not there")
        return self._generations[generation_id]

    @staticmethod
    def _best(
        generation: _Generation,
        filter: Filter | None,
        limit: int,
        score: Callable[[IndexedChunk], float],
        *,
        least: float,
        vectors: bool,
    ) -> list[LegHit]:
        passing = [chunk for chunk in generation.chunks.values() if _passes(chunk, filter, generation.fields)]
        hits = [LegHit.of(_read(chunk, vectors), scored) for chunk in passing if (scored := score(chunk)) > least]
        return sorted(hits, key=lambda hit: (-hit.score, hit.chunk_id))[:limit]


def _read(chunk: IndexedChunk, vectors: bool) -> StoredChunk:
    stored = {one.name: getattr(chunk, one.name) for one in fields(StoredChunk)}
    return StoredChunk(**stored if vectors else {**stored, "vectors": None})


def _passes(chunk: StoredChunk, filter: Filter | None, fields: Mapping[str, FieldType]) -> bool:
    if filter is None:
        return True
    built_in = {"id": chunk.document_id} | {name: getattr(chunk, name) for name in BUILT_IN_FIELDS if name != "id"}
    values: dict[str, FieldValue | None] = {}
    for name, declared in (*fields.items(), *BUILT_IN_FIELDS.items()):
        value = {**chunk.metadata, **built_in}.get(name)
        values[name] = None if value is None else comparable(value, declared)
    return matches(filter, values)
