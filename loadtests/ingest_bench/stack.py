"""The ingest service as a process of its own over a catalog, blobs and an embedded index in one folder."""

import asyncio
import re
import urllib.request
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from loadtests.own_service import own_service
from loadtests.process_figures import cpu_s, resident_mib
from plumbline.ingest.v1 import ingest_pb2 as pb
from plumbline.ingest.v1.ingest_pb2_grpc import IngestServiceStub
from plumbline.search.v1 import search_pb2
from services.ingest.metrics import STAGES
from services.local.failure import Failure

_READY_WITHIN_S = 60.0
_CALL_S = 120.0
_ENDS_WITHIN_S = 7_200.0
_DOCUMENTS_PER_CALL = 500


@dataclass(frozen=True, slots=True)
class Spent:
    """What the service has done and used since it started."""

    stage_s: dict[str, float]
    embedded: int
    reused: int
    cpu_s: float

    def since(self, before: "Spent") -> "Spent":
        """The difference."""
        stages = {stage: seconds - before.stage_s[stage] for stage, seconds in self.stage_s.items()}
        return Spent(stages, self.embedded - before.embedded, self.reused - before.reused, self.cpu_s - before.cpu_s)


@dataclass(frozen=True, slots=True)
class Ingest:
    """A running service."""

    stub: IngestServiceStub
    process_id: int
    metrics_url: str

    async def create(self, name: str, *, profile: str) -> None:
        """Make a collection with the fields that the corpus has."""
        fields = {"department": search_pb2.FIELD_TYPE_KEYWORD, "year": search_pb2.FIELD_TYPE_INTEGER}
        collection = pb.Collection(name=name, profile=profile, locale="en", fields=fields)
        await self.stub.CreateCollection(pb.CreateCollectionRequest(collection=collection), timeout=_CALL_S)

    async def put(self, name: str, documents: Sequence[pb.Document]) -> None:
        """Put documents and wait until all are applied. Raises Failure when one is not."""
        jobs = []
        for start in range(0, len(documents), _DOCUMENTS_PER_CALL):
            some = documents[start : start + _DOCUMENTS_PER_CALL]
            put = pb.PutDocumentsRequest(collection=name, documents=some)
            jobs.append((await self.stub.PutDocuments(put, timeout=_CALL_S)).job_id)
        for job_id in jobs:
            await self._ended(job_id)

    async def _ended(self, job_id: str) -> None:
        async for response in self.stub.WatchJob(pb.WatchJobRequest(job_id=job_id), timeout=_ENDS_WITHIN_S):
            job = response.job
        if job.state != pb.JOB_STATE_SUCCEEDED or job.outcomes.failed:
            raise Failure(f"job {job_id} ended as {pb.JobState.Name(job.state)}, {job.outcomes.failed} failed")

    async def spent(self) -> Spent:
        """What it has done until now."""
        with await asyncio.to_thread(urllib.request.urlopen, self.metrics_url) as reply:
            page = reply.read().decode()
        stages = {stage: _sample(page, f'plumbline_ingest_stage_seconds_sum{{stage="{stage}"}}') for stage in STAGES}
        embedded = _sample(page, "plumbline_ingest_chunks_embedded_total")
        reused = _sample(page, "plumbline_ingest_chunks_reused_total")
        return Spent(stages, int(embedded), int(reused), cpu_s(self.process_id))

    def resident_mib(self) -> float:
        """Memory of the process."""
        return resident_mib(self.process_id)


def _sample(page: str, series: str) -> float:
    found = re.search(rf"^{re.escape(series)} (\S+)$", page, re.MULTILINE)
    return float(found[1]) if found else 0.0


@asynccontextmanager
async def running_ingest(folder: Path, embedding_target: str) -> AsyncIterator[Ingest]:
    """The service until the block ends. Raises Failure with its last words when it does not start."""
    knobs = {
        "EMBEDDING_TARGET": embedding_target,
        "CATALOG_URL": f"sqlite:///{folder}/catalog.db",
        "BLOBS_URL": folder / "blobs",
        "INDEX_FOLDER": folder / "index",
    }
    starting = own_service("ingest", knobs, folder / "ingest.log", ready_within_s=_READY_WITHIN_S)
    async with starting as service:
        yield Ingest(IngestServiceStub(service.channel), service.process.pid, service.metrics_url)
