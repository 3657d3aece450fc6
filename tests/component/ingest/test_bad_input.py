"""What cannot be stored or served: each has a clear outcome, and nothing beside it is lost."""

from pathlib import Path

import grpc
import pytest

from plumbline.ingest.v1 import ingest_pb2 as pb
from tests.component.ingest.conftest import TIMEOUT_S, Ingest

NO_TEXT = "<html><body><script>draw()</script></body></html>"


async def active_chunks(ingest: Ingest) -> int:
    return await ingest.index.count((await ingest.catalog.collections.get("notes")).active.id)


async def test_one_bad_document_among_a_hundred_fails_alone(ingest: Ingest) -> None:
    good = [pb.Document(id=f"good-{n}", text=f"Text number {n}.") for n in range(99)]

    job = await ingest.put(*good[:50], pb.Document(id="bad", html=NO_TEXT), *good[50:])

    assert (job.state, job.total, job.outcomes.embedded, job.outcomes.failed) == (pb.JOB_STATE_SUCCEEDED, 100, 99, 1)
    assert [(failure.document_id, failure.reason[:16]) for failure in job.failures] == [("bad", "it holds no text")]
    assert await active_chunks(ingest) == 99


async def test_a_document_that_becomes_empty_fails_and_stays_as_it_was(ingest: Ingest) -> None:
    await ingest.put(pb.Document(id="a", html="<p>Herons stand in shallow water.</p>"))

    job = await ingest.put(pb.Document(id="a", html=NO_TEXT))

    assert (job.state, job.outcomes.failed) == (pb.JOB_STATE_FAILED, 1)
    assert "it holds no text" in job.failures[0].reason
    assert await ingest.texts("a") == ["Herons stand in shallow water."]
    assert (await ingest.catalog.documents.get("notes", "a")).chunks == 1


async def test_generation_that_failed_is_not_promoted_and_the_old_one_serves_on(ingest: Ingest, tmp_path: Path) -> None:
    await ingest.put(pb.Document(id="whole", text="Herons stand."), pb.Document(id="lost", text="Storks stand."))
    lost = (await ingest.catalog.documents.get("notes", "lost")).content.blob
    (tmp_path / "blobs" / lost[:2] / lost[2:4] / lost).unlink()
    request = pb.BuildGenerationRequest(collection="notes", profile="plain")
    begun = await ingest.stub.BuildGeneration(request, timeout=TIMEOUT_S)
    job = await ingest.finished(begun.job_id)
    assert (job.state, [failure.document_id for failure in job.failures]) == (pb.JOB_STATE_FAILED, ["lost"])

    promote = pb.PromoteGenerationRequest(collection="notes", generation_id=begun.generation.generation_id)
    with pytest.raises(grpc.aio.AioRpcError, match="is failed, not ready") as refused:
        await ingest.stub.PromoteGeneration(promote, timeout=TIMEOUT_S)

    assert refused.value.code() is grpc.StatusCode.FAILED_PRECONDITION
    assert await ingest.texts("lost") == ["Storks stand."]
    assert (await ingest.put(pb.Document(id="more", text="Cranes stand."))).outcomes.embedded == 1
