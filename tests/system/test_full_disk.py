"""A disk on which nothing can be written any more, as a limit on the size of files makes it for one process.

Reads go on, a write is refused with a sentence before anything is accepted, and what was accepted is applied when there
is room again.
"""

import asyncio
import resource
from collections.abc import Iterator
from pathlib import Path

import grpc
import pytest

from loadtests.ingest_faults.held import opened_stores
from loadtests.ingest_faults.moments import Victim
from loadtests.ingest_faults.pair import EMBEDDED, Pair, running_pair
from loadtests.ingest_faults.writer import Writer
from plumbline.ingest.v1 import ingest_pb2 as pb
from plumbline.ingest.v1.ingest_pb2_grpc import IngestServiceStub
from services.shared.runtime.channel import open_channel

COLLECTION = "full"
NO_ROOM = 0  # bytes that a file may grow to
# A caller comes back so often and so soon; meanwhile the workers, which try again after a second, meet the full disk.
OFFERED, RETRY_AFTER_S = 40, 0.1


@pytest.fixture
def pair(tmp_path: Path) -> Iterator[Pair]:
    with running_pair(EMBEDDED, tmp_path) as running:
        yield running


def set_room(pair: Pair, bytes_each: int) -> None:
    """Let files of ingest grow to this size only; more is refused to it as on a full disk."""
    _, most = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.prlimit(pair.processes[Victim.WORKER].process_id, resource.RLIMIT_FSIZE, (bytes_each, most))


def documents(first: int, count: int) -> list[pb.Document]:
    return [pb.Document(id=f"d{n}", text=f"Text number {n} of a long book.") for n in range(first, first + count)]


async def refusal(stub: IngestServiceStub, number: int) -> tuple[grpc.StatusCode, str]:
    """The status and the sentence of a write that is refused."""
    with pytest.raises(grpc.aio.AioRpcError) as refused:
        request = pb.PutDocumentsRequest(collection=COLLECTION, documents=documents(1000 + number, 1))
        await stub.PutDocuments(request, timeout=60)
    await asyncio.sleep(RETRY_AFTER_S)
    return refused.value.code(), refused.value.details() or ""


def test_a_full_disk_refuses_writes_and_what_was_accepted_is_applied_afterwards(pair: Pair) -> None:
    asyncio.run(_filled_and_emptied(pair))


async def _filled_and_emptied(pair: Pair) -> None:
    for process in pair.processes.values():
        await process.until_ready()
    channel, index = open_channel(pair.ingest_target), await pair.open_index()
    writer, stub = Writer(channel, COLLECTION), IngestServiceStub(channel)
    async with opened_stores(pair.catalog_url, index, pair.blobs) as stores:
        await writer.create()
        request = pb.PutDocumentsRequest(collection=COLLECTION, documents=documents(0, 400))
        accepted = (await stub.PutDocuments(request, timeout=60)).job_id
        while not await stores.done(COLLECTION):
            await asyncio.sleep(0.01)
        set_room(pair, NO_ROOM)

        refused = [await refusal(stub, number) for number in range(OFFERED)]
        applied_when_full = await stores.done(COLLECTION)
        before = await index.count(await stores.active(COLLECTION))
        set_room(pair, resource.RLIM_INFINITY)
        [job] = await stores.finished(COLLECTION, [accepted])
        held, contradictions = await stores.read(COLLECTION)

    assert {code for code, _ in refused} == {grpc.StatusCode.UNAVAILABLE}
    assert {reason.partition(":")[0] for _, reason in refused} == {"the blob store does not answer"}
    assert applied_when_full < 400, "it was full too late"
    assert before > 0
    assert (job.state, job.done, job.outcomes.failed) == ("succeeded", 400, 0)
    assert (contradictions, set(held.documents)) == ([], {f"d{n}" for n in range(400)})
    await channel.close()
    await index.close()
