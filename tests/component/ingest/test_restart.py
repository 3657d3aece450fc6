"""Stopping in the middle of work: what was accepted is applied after the return."""

import asyncio
import os
import time
from pathlib import Path

from plumbline.ingest.v1 import ingest_pb2 as pb
from services.ingest.settings import IngestSettings
from services.shared.catalog.catalog import Catalog
from services.shared.index.lance_index import LanceIndex
from tests.component.ingest.conftest import TIMEOUT_S, running_ingest

DOCUMENTS = 120


async def test_work_that_a_stop_interrupted_goes_on_at_once_after_the_return(
    settings: IngestSettings, tmp_path: Path
) -> None:
    # Leases outlast the test: nothing would end in time if they had to run out first.
    settings = settings.model_copy(update={"lease_s": 3600.0})
    async with running_ingest(settings) as stub:
        notes = pb.Collection(name="notes", profile="docs", locale="en")
        await stub.CreateCollection(pb.CreateCollectionRequest(collection=notes), timeout=TIMEOUT_S)
        documents = [pb.Document(id=f"d{n}", text=f"Text number {n}.") for n in range(DOCUMENTS)]
        put = pb.PutDocumentsRequest(collection="notes", documents=documents)
        job_id = (await stub.PutDocuments(put, timeout=TIMEOUT_S)).job_id
        catalog = await Catalog.open(settings.catalog_url.get_secret_value())
        while (await catalog.jobs.get(job_id)).state == "queued":
            await asyncio.sleep(0.005)
    interrupted = await catalog.jobs.get(job_id)
    assert interrupted.done < DOCUMENTS, "the stop came too late to show anything"

    async with running_ingest(settings) as stub:
        async for response in stub.WatchJob(pb.WatchJobRequest(job_id=job_id), timeout=TIMEOUT_S):
            job = response.job
    assert (job.state, job.done, job.outcomes.failed) == (pb.JOB_STATE_SUCCEEDED, DOCUMENTS, 0)
    index = await LanceIndex.open(tmp_path / "index")
    active = (await catalog.collections.get("notes")).active
    assert await index.count(active.id) == active.chunks == DOCUMENTS
    await index.close()
    await catalog.close()


async def test_what_an_upload_left_when_the_service_was_killed_is_swept_at_the_next_start(
    settings: IngestSettings, tmp_path: Path
) -> None:
    incoming = tmp_path / "blobs" / "incoming"
    incoming.mkdir(parents=True)
    for name, age_s in (("left", 3700), ("running", 3500)):
        (incoming / name).write_bytes(b"half")
        os.utime(incoming / name, (time.time() - age_s,) * 2)
    async with running_ingest(settings):
        assert [path.name for path in incoming.iterdir()] == ["running"]
