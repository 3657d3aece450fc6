"""The real ingest service over a real catalog, blob folder, index and embedding service with the hashing encoder."""

import asyncio
import os
import sys
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from pydantic import SecretStr

from plumbline.ingest.v1 import ingest_pb2 as pb
from plumbline.ingest.v1.ingest_pb2_grpc import IngestServiceStub
from services.embedding.settings import EmbeddingSettings
from services.embedding.wiring import build as build_embedding
from services.ingest.settings import IngestSettings
from services.ingest.wiring import build as build_ingest
from services.shared.catalog.catalog import Catalog
from services.shared.index.lance_index import LanceIndex
from tests.architecture.source_files import ROOT
from tests.fakes.serving import RecordedTelemetry, channel_to, recorded_telemetry, served

TIMEOUT_S = 60


@dataclass(frozen=True, slots=True)
class Ingest:
    """The running service, and its stores as other processes see them."""

    stub: IngestServiceStub
    telemetry: RecordedTelemetry
    catalog: Catalog
    index: LanceIndex

    async def finished(self, job_id: str) -> pb.Job:
        """The job once it has ended."""
        async for response in self.stub.WatchJob(pb.WatchJobRequest(job_id=job_id), timeout=TIMEOUT_S):
            last = response.job
        return last

    async def put(self, *documents: pb.Document, collection: str = "notes") -> pb.Job:
        """The finished job of these documents."""
        request = pb.PutDocumentsRequest(collection=collection, documents=documents)
        return await self.finished((await self.stub.PutDocuments(request, timeout=TIMEOUT_S)).job_id)

    async def texts(self, document_id: str, *, collection: str = "notes") -> list[str]:
        """The texts that the index holds of a document, in order."""
        active = (await self.catalog.collections.get(collection)).active
        return [chunk.text for chunk in await self.index.document_chunks(active.id, document_id)]

    def embedded(self) -> float:
        """Chunks embedded so far."""
        return self.telemetry.sample("plumbline_ingest_chunks_embedded_total") or 0.0


@pytest.fixture
async def embedding_target() -> AsyncIterator[str]:
    telemetry = recorded_telemetry("embedding")
    settings = EmbeddingSettings(port=0, model="hashing")
    app = await build_embedding(settings, telemetry.telemetry)
    async with served(app, settings, telemetry.telemetry) as running:
        yield running.target


@pytest.fixture
def settings(tmp_path: Path, embedding_target: str) -> IngestSettings:
    return IngestSettings(
        port=0,
        embedding_target=embedding_target,
        catalog_url=f"sqlite:///{tmp_path / 'catalog.db'}",
        blobs_url=str(tmp_path / "blobs"),
        index_folder=str(tmp_path / "index"),
    )


@asynccontextmanager
async def running_ingest(settings: IngestSettings) -> AsyncIterator[IngestServiceStub]:
    """The service with these settings until the block ends."""
    telemetry = recorded_telemetry("ingest").telemetry
    app = await build_ingest(settings, telemetry)
    async with served(app, settings, telemetry) as running, channel_to(running.target) as channel:
        yield IngestServiceStub(channel)


@pytest.fixture
async def ingest(settings: IngestSettings, tmp_path: Path) -> AsyncIterator[Ingest]:
    telemetry = recorded_telemetry("ingest")
    app = await build_ingest(settings, telemetry.telemetry)
    async with served(app, settings, telemetry.telemetry) as running, channel_to(running.target) as channel:
        stub = IngestServiceStub(channel)
        notes = pb.Collection(name="notes", profile="docs", locale="en", fields={"year": 2, "draft": 5, "topic": 1})
        await stub.CreateCollection(pb.CreateCollectionRequest(collection=notes), timeout=TIMEOUT_S)
        catalog = await Catalog.open(settings.catalog_url.get_secret_value())
        index = await LanceIndex.open(tmp_path / "index")
        yield Ingest(stub, telemetry, catalog, index)
        await index.close()
        await catalog.close()


_GIVEN = (
    "embedding_target", "catalog_url", "blobs_url", "index_folder", "weaviate_nodes", "weaviate_api_key",
)  # fmt: skip


def variables(settings: IngestSettings) -> dict[str, str]:
    """The environment of a process that has these settings, its port apart."""
    values = settings.model_dump(exclude_none=True, include={*_GIVEN, "lease_s"})
    plain = {
        name: value.get_secret_value() if isinstance(value, SecretStr) else value for name, value in values.items()
    }
    return {f"PLUMBLINE_INGEST_{name.upper()}": str(value) for name, value in plain.items()}


async def command(
    settings: IngestSettings,
    *arguments: str,
    environment: Mapping[str, str] | None = None,
    launcher: Sequence[str] = (sys.executable,),
) -> tuple[int | None, list[str]]:
    """The exit code of a command that runs with these settings, and the lines of its report."""
    process = await asyncio.create_subprocess_exec(
        *launcher, "-m", "services.ingest", *arguments,
        env=os.environ | variables(settings) | (environment or {}), cwd=ROOT, stdout=asyncio.subprocess.PIPE,
    )  # fmt: skip
    output, _ = await process.communicate()
    return process.returncode, output.decode().splitlines()
