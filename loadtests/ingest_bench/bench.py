"""What ingest costs beside embedding, what it does not do again, and whether its memory stays flat."""

import asyncio
import os
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from loadtests.embed_bench.service import Client, running_service
from loadtests.ingest_bench.corpus import abstracts, sectioned, with_another_year
from loadtests.ingest_bench.report import First, Memory, Report
from loadtests.ingest_bench.stack import Ingest, running_ingest
from loadtests.process_figures import cpu_s
from loadtests.provenance import this_machine, this_source
from plumbline.ingest.v1 import ingest_pb2 as pb
from services.ingest.settings import IngestSettings

_COLLECTION = "papers"
_PORTIONS = 5
# As ingest's settings are by default.
_WORKERS = IngestSettings.model_fields["workers"].default
_TEXTS_PER_CALL = IngestSettings.model_fields["embed_batch_texts"].default
_SINGLE_PUTS = 20
_LOOKS = 10


@dataclass(frozen=True, slots=True)
class Plan:
    """What to measure: `model` is a folder of weights."""

    file: Path
    model: Path
    documents: int
    memory_documents: int


async def run(plan: Plan) -> Report:
    """Measure. Raises Failure."""
    load_average = os.getloadavg()[0]
    documents = abstracts(plan.file, plan.documents)
    with tempfile.TemporaryDirectory(prefix="ingest-bench-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        async with (
            running_service(str(plan.model), {}, folder / "embedding.log") as embedding,
            running_ingest(folder, embedding.target) as ingest,
        ):
            await ingest.create(_COLLECTION, profile="paper")
            await ingest.put(_COLLECTION, [sectioned(documents, heading="Before")])  # and everything is warm
            first = await _first(ingest, embedding, documents)
            again_wall_s, again_embedded = await _put(ingest, documents)
            _, heading_embedded = await _put(ingest, [sectioned(documents, heading="After")])
            metadata_wall_s, metadata_embedded = await _put(ingest, with_another_year(documents))
            until_applied_s = sorted([(await _put(ingest, [_short(number)]))[0] for number in range(_SINGLE_PUTS)])
        memory = await _memory(plan)
    return Report(
        date=datetime.now(UTC).date().isoformat(),
        machine=this_machine(),
        source=this_source(),
        load_average=load_average,
        load_average_after=os.getloadavg()[0],
        documents=plan.documents,
        model=plan.model.name,
        first=first,
        again_wall_s=again_wall_s,
        again_embedded=again_embedded,
        metadata_wall_s=metadata_wall_s,
        metadata_embedded=metadata_embedded,
        heading_embedded=heading_embedded,
        until_applied_s=until_applied_s,
        memory=memory,
    )


async def _first(ingest: Ingest, embedding: Client, documents: list[pb.Document]) -> First:
    """New documents, a portion at a time, in turn with the bare embedding of the same portion."""
    before = await ingest.spent()
    wall_s = bare_s = embedding_cpu_s = 0.0
    each = -(-len(documents) // _PORTIONS)
    for start in range(0, len(documents), each):
        portion = documents[start : start + each]
        embedding_before = cpu_s(embedding.process.pid)
        started = time.perf_counter()
        await ingest.put(_COLLECTION, portion)
        wall_s += time.perf_counter() - started
        embedding_cpu_s += cpu_s(embedding.process.pid) - embedding_before
        started = time.perf_counter()
        await _embed(embedding, [f"{document.title}\n{document.text}" for document in portion])
        bare_s += time.perf_counter() - started
    spent = (await ingest.spent()).since(before)
    return First(
        wall_s=wall_s,
        bare_s=bare_s,
        stage_s=spent.stage_s,
        chunks=spent.embedded,
        ingest_cpu_s=spent.cpu_s,
        embedding_cpu_s=embedding_cpu_s,
    )


async def _embed(embedding: Client, texts: Sequence[str]) -> None:
    """Embed texts as ingest does: its batches, as many at once as it has workers."""
    calls = iter(texts[start : start + _TEXTS_PER_CALL] for start in range(0, len(texts), _TEXTS_PER_CALL))

    async def caller() -> None:
        for some in calls:
            await embedding.embed(some, query=False)

    await asyncio.gather(*(caller() for _ in range(_WORKERS)))


async def _put(ingest: Ingest, documents: list[pb.Document]) -> tuple[float, int]:
    """Seconds until these are applied, and how many chunks were embedded for it."""
    before = await ingest.spent()
    started = time.perf_counter()
    await ingest.put(_COLLECTION, documents)
    wall_s = time.perf_counter() - started
    return wall_s, (await ingest.spent()).since(before).embedded


def _short(number: int) -> pb.Document:
    return pb.Document(id=f"short-{number}", title="A short note", text=f"Note {number} says one thing.")


async def _memory(plan: Plan) -> Memory:
    """Memory of a service of its own after each tenth of the documents; the first tenth is its warm-up."""
    documents = abstracts(plan.file, plan.memory_documents)
    each = len(documents) // _LOOKS
    mib: list[float] = []
    with tempfile.TemporaryDirectory(prefix="ingest-bench-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        async with (
            running_service("hashing", {}, folder / "embedding.log") as embedding,
            running_ingest(folder, embedding.target) as ingest,
        ):
            await ingest.create(_COLLECTION, profile="paper")
            for start in range(0, each * _LOOKS, each):
                await ingest.put(_COLLECTION, documents[start : start + each])
                mib.append(ingest.resident_mib())
    return Memory(documents=each * _LOOKS, after=[each * look for look in range(1, _LOOKS + 1)], mib=mib)
