"""A device under the test's control, and a record of what the batcher told."""

import asyncio
import threading
from collections.abc import Callable, Sequence
from typing import Any

from services.shared.batching.batcher import Lane


class HeldDevice:
    """Stands in for `compute`: a batch begins, is reported, and ends when the test releases it.

    `started` gives the batches in the order in which they begin.
    """

    def __init__(self, answer: Callable[[Sequence[Any]], Sequence[Any]] = list) -> None:
        self.started: asyncio.Queue[list[Any]] = asyncio.Queue()
        self._answer = answer
        self._loop = asyncio.get_running_loop()
        self._permits = threading.Semaphore(0)

    def __call__(self, items: Sequence[Any]) -> Sequence[Any]:
        self._loop.call_soon_threadsafe(self.started.put_nowait, list(items))
        self._permits.acquire()
        return self._answer(items)

    def release(self, batches: int = 1) -> None:
        """Let so many batches end."""
        self._permits.release(batches)


class RecordedBatches:
    """A BatchObserver that keeps what it is told."""

    def __init__(self) -> None:
        self.tokens_waiting = dict.fromkeys(Lane, 0)
        self.refusals: list[Lane] = []
        self.drops: list[tuple[Lane, str, int]] = []
        self.batches: list[tuple[Lane, int, int]] = []
        self.failures: list[tuple[Lane, int]] = []

    def waiting(self, lane: Lane, tokens: int) -> None:
        self.tokens_waiting[lane] = tokens

    def refused(self, lane: Lane) -> None:
        self.refusals.append(lane)

    def dropped(self, lane: Lane, reason: str, items: int) -> None:
        self.drops.append((lane, reason, items))

    def ran(self, lane: Lane, *, items: int, tokens: int, padded: int, device_s: float) -> None:
        self.batches.append((lane, tokens, padded))

    def failed(self, lane: Lane, *, items: int) -> None:
        self.failures.append((lane, items))
