"""Loads a corpus into an engine, as ingest would, and tells how long it took."""

import time
from collections.abc import Iterable

from loadtests.search_bench.engines import Engine
from loadtests.strict import StrictFile
from services.shared.index.chunk import IndexedChunk
from services.shared.index.port import Index

BATCH = 500


class Import(StrictFile):
    """How a corpus was loaded. The time of making it up is left out."""

    chunks: int
    chunks_per_s: float
    upkeep_s: float
    disk_mib: float


async def load(engine: Engine, index: Index, generation_id: str, batches: Iterable[list[IndexedChunk]]) -> Import:
    """Write all chunks, then do what ingest does in the background."""
    chunks, writing_s = 0, 0.0
    for batch in batches:
        began = time.perf_counter()
        await index.upsert(generation_id, batch)
        writing_s += time.perf_counter() - began
        chunks += len(batch)
    began = time.perf_counter()
    await index.optimize(generation_id)
    upkeep_s = time.perf_counter() - began
    return Import(chunks=chunks, chunks_per_s=chunks / writing_s, upkeep_s=upkeep_s, disk_mib=engine.disk_mib())
