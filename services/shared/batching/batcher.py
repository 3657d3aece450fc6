"""The asyncio shell around the batch plan: two bounded lanes, one device, and every waiter answered.

Queries go first. Ingest goes when no query waits, and once before them when it was passed over for its patience, never
twice in a row; so a query waits for at most one ingest batch, and ingest is never shut out. While the device is idle
nothing waits. Several models share one batcher when they share a device; a batch holds the work of one of them.
"""

import asyncio
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextvars import Context
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import chain
from typing import Any, Generic, Protocol, TypeVar

from services.shared.batching.device import DeviceThread
from services.shared.batching.plan import leading_batch, padded_tokens, similar_batch
from services.shared.runtime.errors import DeadlineExceeded, DependencyUnavailable, Overloaded

ItemT = TypeVar("ItemT")
ResultT = TypeVar("ResultT")

# Bounds of the retry hint, seconds: below a caller would only come back to be refused, above it would come back late.
_RETRY_AFTER_S = (0.1, 60.0)
# Weight of the newest batch in the running mean of device time per token.
_NEWEST = 0.2
# Errors that say nothing about an item: half a batch would meet them too.
_NOT_AN_ITEMS_FAULT = (Overloaded, DependencyUnavailable, DeadlineExceeded)


class Lane(StrEnum):
    """Who waits: a person, or the index."""

    QUERY = "query"
    INGEST = "ingest"


_PLANS = {Lane.QUERY: leading_batch, Lane.INGEST: similar_batch}


@dataclass(frozen=True, slots=True, eq=False)
class Work(Generic[ItemT, ResultT]):
    """What the device does with a batch: `compute` maps items, which are hashable, to as many results.

    Equal items of one batch are computed once. `batch_tokens` are the most padded tokens of a batch in each lane.
    """

    compute: Callable[[Sequence[ItemT]], Iterable[ResultT]]
    batch_tokens: Mapping[Lane, int]


@dataclass(frozen=True, slots=True)
class Batched(Generic[ResultT]):
    """Results in the order of the items. `device_s` is the time of every batch with an item of this call."""

    results: list[ResultT]
    queue_s: float
    device_s: float


class BatchObserver(Protocol):
    """Is told of every decision, on the event loop."""

    def waiting(self, lane: Lane, tokens: int) -> None:
        """So many tokens wait now."""

    def refused(self, lane: Lane) -> None:
        """A call met a full lane."""

    def dropped(self, lane: Lane, reason: str, items: int) -> None:
        """Items left without device time: their call was `cancelled`, `expired` or `failed`."""

    def ran(self, lane: Lane, *, items: int, tokens: int, padded: int, device_s: float) -> None:
        """A batch of so many different items came back from the device."""

    def failed(self, lane: Lane, *, items: int) -> None:
        """A batch raised."""


@dataclass(slots=True, eq=False)
class _Ticket(Generic[ResultT]):
    """One call: `done` resolves when no result is missing any more."""

    done: asyncio.Future[None]
    deadline: float
    results: list[ResultT | None]
    missing: int
    device_s: float = 0.0
    ended: str = ""

    def why_dead(self, now: float) -> str:
        """Why its items need no device time any more; empty while they do."""
        if not self.ended and self.done.cancelled():
            self.ended = "cancelled"
        if not self.ended and self.deadline <= now:
            self.fail("expired", DeadlineExceeded("the time ran out before the device was free"))
        return self.ended

    def receive(self, position: int, result: ResultT) -> None:
        self.results[position] = result
        self.missing -= 1
        if not self.missing and not self.done.done():
            self.done.set_result(None)

    def fail(self, reason: str, error: Exception) -> None:
        if not self.done.done():
            self.ended = reason
            self.done.set_exception(error)


@dataclass(frozen=True, slots=True, eq=False)
class _Entry(Generic[ItemT, ResultT]):
    work: Work[ItemT, ResultT]
    ticket: _Ticket[ResultT]
    position: int
    item: ItemT
    length: int


@dataclass(slots=True)
class _Queue:
    """Entries in order of arrival; `since` is when the lane last had its turn, or began to wait."""

    entries: list[_Entry[Any, Any]] = field(default_factory=list)
    tokens: int = 0
    since: float = 0.0


class Batcher:
    """Gathers items of many calls into batches for the device.

    `queue_tokens` are the waiting tokens of a lane from which on new work is refused.
    """

    def __init__(
        self,
        device: DeviceThread,
        queue_tokens: Mapping[Lane, int],
        *,
        ingest_patience_s: float,
        observer: BatchObserver,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._device = device
        self._queue_tokens = queue_tokens
        self._ingest_patience_s = ingest_patience_s
        self._observer = observer
        self._clock = clock
        self._queues = {lane: _Queue() for lane in Lane}
        self._last: Lane | None = None
        self._device_s_per_token = 0.0
        self._serving: asyncio.Task[None] | None = None

    def refuse_if_full(self, lane: Lane) -> None:
        """Raise Overloaded, with a hint when to come back, while the lane holds its `queue_tokens`."""
        queue, limit = self._queues[lane], self._queue_tokens[lane]
        if queue.tokens >= limit:
            self._drop_dead(lane)
        if queue.tokens >= limit:
            self._observer.refused(lane)
            low, high = _RETRY_AFTER_S
            raise Overloaded(
                f"the {lane} lane is full: {queue.tokens} tokens wait, {limit} is the limit",
                retry_after_s=min(high, max(low, queue.tokens * self._device_s_per_token)),
            )

    async def submit(
        self,
        work: Work[ItemT, ResultT],
        lane: Lane,
        items: Sequence[ItemT],
        lengths: Sequence[int],
        *,
        deadline: float,
    ) -> Batched[ResultT]:
        """The result of each item; `lengths` are tokens, `deadline` is a reading of the clock.

        Cancelling the caller takes its items out of the queue. Raises Overloaded at once when the lane is full,
        DeadlineExceeded when time runs out in the queue, and what `compute` raised for one of the items.
        """
        self.refuse_if_full(lane)
        started = self._clock()
        done = asyncio.get_running_loop().create_future()
        ticket: _Ticket[ResultT] = _Ticket(done, deadline, [None] * len(items), len(items))
        queue = self._queues[lane]
        if not queue.entries:
            queue.since = started
        queue.entries += [_Entry(work, ticket, *entry) for entry in zip(range(len(items)), items, lengths, strict=True)]
        self._count(lane, sum(lengths))
        if items:
            self._wake()
            await done
        waited = self._clock() - started
        # Nothing is missing here, so no None is left among the results.
        return Batched(ticket.results, max(0.0, waited - ticket.device_s), ticket.device_s)  # type: ignore[arg-type]

    def _wake(self) -> None:
        if self._serving is None or self._serving.done():
            # In a context of its own: batches belong to many calls, so they must not log as the one that woke us.
            self._serving = asyncio.create_task(self._serve(), context=Context())

    async def _serve(self) -> None:
        while lane := self._next_lane():
            await self._run(lane, self._take(lane))
            self._queues[lane].since = self._clock()
            self._last = lane

    def _next_lane(self) -> Lane | None:
        for lane in Lane:
            self._drop_dead(lane)
        queries, ingest = self._queues[Lane.QUERY], self._queues[Lane.INGEST]
        is_due = self._last is not Lane.INGEST and self._clock() - ingest.since >= self._ingest_patience_s
        if ingest.entries and is_due:
            return Lane.INGEST
        if queries.entries:
            return Lane.QUERY
        return Lane.INGEST if ingest.entries else None

    def _drop_dead(self, lane: Lane) -> None:
        queue, now = self._queues[lane], self._clock()
        dead = Counter(reason for entry in queue.entries if (reason := entry.ticket.why_dead(now)))
        if dead:
            gone = [entry for entry in queue.entries if entry.ticket.ended]
            queue.entries = [entry for entry in queue.entries if not entry.ticket.ended]
            self._count(lane, -sum(entry.length for entry in gone))
            for reason, items in dead.items():
                self._observer.dropped(lane, reason, items)

    def _take(self, lane: Lane) -> list[_Entry[Any, Any]]:
        """The next batch: it holds the entry that waits longest and others of its work."""
        entries = self._queues[lane].entries
        work = entries[0].work
        same = [index for index, entry in enumerate(entries) if entry.work is work]
        lengths = [entries[index].length for index in same]
        chosen = _PLANS[lane](lengths, max_tokens=work.batch_tokens[lane])
        taken = {same[place] for place in chosen}
        batch = [entry for index, entry in enumerate(entries) if index in taken]
        self._queues[lane].entries = [entry for index, entry in enumerate(entries) if index not in taken]
        self._count(lane, -sum(entry.length for entry in batch))
        return batch

    async def _run(self, lane: Lane, batch: list[_Entry[Any, Any]]) -> None:
        """One batch and, when it fails, one search for the item at fault.

        The failing part is halved as long as one half succeeds, so that a poisoned item does not fail its neighbours.
        When both halves fail it is not one item's fault, and all that is left fails.
        """
        waiting: dict[Any, list[_Entry[Any, Any]]] = {}
        for entry in batch:
            waiting.setdefault(entry.item, []).append(entry)
        error = await self._try(lane, waiting)
        while error and len(waiting) > 1 and not isinstance(error, _NOT_AN_ITEMS_FAULT):
            items, middle = list(waiting), len(waiting) // 2
            halves = [{item: waiting[item] for item in half} for half in (items[:middle], items[middle:])]
            errors = [await self._try(lane, half) for half in halves]
            if all(errors):
                break
            waiting, error = (halves[0], errors[0]) if errors[0] else (halves[1], errors[1])
        if error:
            for entry in chain.from_iterable(waiting.values()):
                entry.ticket.fail("failed", error)

    async def _try(self, lane: Lane, waiting: Mapping[Any, list[_Entry[Any, Any]]]) -> Exception | None:
        """Compute each item once and give the result to every entry that waits for it."""
        entries = list(chain.from_iterable(waiting.values()))
        started = self._clock()
        try:
            results = list(await self._device.run(entries[0].work.compute, list(waiting)))
            if len(results) != len(waiting):
                raise ValueError(f"{len(waiting)} items went to the device and {len(results)} results came back")
        except Exception as error:
            self._observer.failed(lane, items=len(waiting))
            return error
        finally:
            device_s = self._clock() - started
            for ticket in {entry.ticket for entry in entries}:
                ticket.device_s += device_s
        lengths = [same[0].length for same in waiting.values()]
        padded = padded_tokens(lengths)
        newest = device_s / padded
        mean = self._device_s_per_token or newest
        self._device_s_per_token = mean + _NEWEST * (newest - mean)
        self._observer.ran(lane, items=len(lengths), tokens=sum(lengths), padded=padded, device_s=device_s)
        for same, result in zip(waiting.values(), results, strict=True):
            for entry in same:
                entry.ticket.receive(entry.position, result)
        return None

    def _count(self, lane: Lane, tokens: int) -> None:
        self._queues[lane].tokens += tokens
        self._observer.waiting(lane, self._queues[lane].tokens)
