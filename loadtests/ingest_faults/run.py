"""One run: an undisturbed ingest, then the same ingest again and again while processes are killed.

Each ingest goes into a collection of its own.
"""

import asyncio
import os
import shutil
import tempfile
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import grpc

from loadtests.ingest_faults.corpus import Write, changes_in, remaining, writes
from loadtests.ingest_faults.held import Held, Stores, differences, opened_stores
from loadtests.ingest_faults.moments import Moment, Victim, draw_moments
from loadtests.ingest_faults.pair import LEASE_S, Pair, running_pair
from loadtests.ingest_faults.report import Ingest, Killed, Report
from loadtests.ingest_faults.writer import Writer
from loadtests.provenance import this_machine, this_source
from services.local.failure import Failure
from services.shared.runtime.channel import open_channel

_ENDED_WITHIN_S = 300.0
# The next write to the embedded index is waited for this long; after the last one there is none.
_WRITE_WITHIN_S = 3.0
_LOOK_EVERY_S = 0.0005
_PROGRESS_EVERY_S = 0.05


@dataclass(frozen=True, slots=True)
class Plan:
    """What is done: `documents` are ingested as often as `moments` need, `per_ingest` in each; `seed` draws it all."""

    pair: str
    documents: int
    moments: int
    per_ingest: int
    seed: int


@dataclass(frozen=True, slots=True)
class _Undisturbed:
    held: Held
    took_s: float


def run(plan: Plan, tell: Callable[[str], None], *, postgres_url: str | None = None) -> Report:
    """The report of this plan; `tell` gets a line for each moment. `postgres_url` is as for `running_pair`.

    Not to be called inside an event loop. Raises Failure when there can be no run.
    """
    load_average = os.getloadavg()[0]
    with (
        tempfile.TemporaryDirectory(prefix="plumbline-faults-", ignore_cleanup_errors=True) as folder,
        running_pair(plan.pair, Path(folder), postgres_url=postgres_url) as pair,
    ):
        undisturbed, ingests = asyncio.run(_all_moments(plan, pair, tell))
    return Report(
        date=datetime.now(UTC).isoformat(timespec="seconds"),
        machine=this_machine(),
        source=this_source(),
        load_average=load_average,
        pair=plan.pair,
        documents=plan.documents,
        changes=changes_in(writes(plan.documents, seed=plan.seed)),
        seed=plan.seed,
        lease_s=LEASE_S,
        undisturbed_s=undisturbed.took_s,
        undisturbed_chunks=undisturbed.held.chunks,
        undisturbed_digest=undisturbed.held.digest,
        ingests=ingests,
    )


async def _all_moments(plan: Plan, pair: Pair, tell: Callable[[str], None]) -> tuple[_Undisturbed, list[Ingest]]:
    for process in pair.processes.values():
        await process.until_ready()
    index = await pair.open_index()
    channel = open_channel(pair.ingest_target)
    try:
        async with opened_stores(pair.catalog_url, index, pair.blobs) as stores:
            ingests = _Ingests(pair, stores, channel, writes(plan.documents, seed=plan.seed))
            undisturbed = await ingests.undisturbed()
            tell(f"undisturbed: {undisturbed.took_s:.1f} s, {undisturbed.held.chunks} chunks")
            done = []
            for moments in draw_moments(plan.moments, per_ingest=plan.per_ingest, seed=plan.seed):
                done.append(await ingests.disturbed(moments, undisturbed))
                for one in done[-1].moments:
                    tell(f"{one.number:>3} {one.victim:<9} at {one.done:>4.0%}: {done[-1].outcome}")
            return undisturbed, done
    finally:
        await channel.close()
        await index.close()


class _Ingests:
    """The same ingest, again and again."""

    def __init__(self, pair: Pair, stores: Stores, channel: grpc.aio.Channel, calls: Sequence[Write]) -> None:
        self._pair = pair
        self._stores = stores
        self._channel = channel
        self._calls = calls

    async def undisturbed(self) -> _Undisturbed:
        """What it comes to when nothing is killed. Raises Failure when even that is not as it must be."""
        async with self._collection("undisturbed") as writer:
            began = time.monotonic()
            await writer.write(self._calls)
            problems = await self._ended(writer)
            took_s = time.monotonic() - began
            held, contradictions = await self._stores.read(writer.collection)
        if held.documents.keys() != remaining(self._calls):
            problems.append("other documents are there than were written")
        if problems or contradictions:
            raise Failure(f"even undisturbed {'; '.join([*problems, *contradictions])}")
        return _Undisturbed(held, took_s)

    async def disturbed(self, moments: Sequence[Moment], undisturbed: _Undisturbed) -> Ingest:
        """What it comes to when a process is killed in each of these moments."""
        async with self._collection(f"from-{moments[0].number}") as writer:
            began = time.monotonic()
            writing = asyncio.create_task(writer.write(self._calls))
            killed = [await self._killed(moment, writer.collection, began) for moment in moments]
            await writing
            problems = await self._ended(writer)
            took_s = time.monotonic() - began
            held, contradictions = await self._stores.read(writer.collection)
            return Ingest(
                moments=killed,
                took_s=took_s,
                taken_over=await self._stores.taken_over(writer.collection),
                repeated=writer.repeated,
                chunks=held.chunks,
                digest=held.digest,
                problems=[*problems, *contradictions, *differences(held, undisturbed.held)],
            )

    async def _killed(self, moment: Moment, collection: str, began: float) -> Killed:
        """Wait for the moment, kill, and return once the process serves again."""
        victim, changes = self._pair.processes[moment.victim], changes_in(self._calls)
        done = await self._reached(moment.share * changes, collection)
        await asyncio.sleep(moment.delay_s)
        if moment.victim is Victim.INDEX and self._pair.index_folder:
            await _write_under_way(self._pair.index_folder, await self._stores.active(collection))
        victim.kill()
        at = time.monotonic()
        await asyncio.sleep(moment.away_s)
        victim.start()
        await victim.until_ready()
        return Killed(
            number=moment.number,
            victim=moment.victim,
            at_s=at - began,
            done=done / changes,
            away_s=moment.away_s,
            back_s=time.monotonic() - at,
        )

    async def _reached(self, changes: float, collection: str) -> int:
        """How many changes have been applied, once that is as many. Raises Failure when it never will be."""
        try:
            async with asyncio.timeout(_ENDED_WITHIN_S):
                while (done := await self._stores.done(collection)) < changes:
                    await asyncio.sleep(_PROGRESS_EVERY_S)
        except TimeoutError:
            raise Failure(f"after {_ENDED_WITHIN_S:.0f} s {changes:.0f} changes have not been applied yet") from None
        return done

    async def _ended(self, writer: Writer) -> list[str]:
        """Wait for all jobs of the writer; a sentence for each that did not succeed."""
        try:
            async with asyncio.timeout(_ENDED_WITHIN_S):
                jobs = await self._stores.finished(writer.collection, writer.jobs)
        except TimeoutError:
            return [f"not all jobs have ended after {_ENDED_WITHIN_S:.0f} s"]
        bad = [job for job in jobs if job.state != "succeeded" or job.outcomes.failed or job.done != job.total]
        return [f"job {job.id} is {job.state} with {job.outcomes.failed} failed documents" for job in bad]

    @asynccontextmanager
    async def _collection(self, name: str) -> AsyncIterator[Writer]:
        """A new collection and a blob store without an original, for one ingest that comes to its end."""
        writer = Writer(self._channel, name)
        await writer.create()
        yield writer
        await writer.delete()
        for folder in self._pair.blobs.iterdir():
            shutil.rmtree(folder)


async def _write_under_way(index_folder: Path, generation_id: str) -> None:
    """Return as soon as the embedded index has a new file of rows: its commit is still to come, or has just come."""
    rows = index_folder / f"{generation_id}.lance" / "data"
    before = _names(rows)
    deadline = time.monotonic() + _WRITE_WITHIN_S
    while _names(rows) == before and time.monotonic() < deadline:
        await asyncio.sleep(_LOOK_EVERY_S)


def _names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()} if folder.is_dir() else set()
