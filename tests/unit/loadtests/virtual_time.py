"""An event loop whose clock goes on only when everything waits: seconds cost nothing, and times are exact."""

import asyncio
import selectors
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


class _Selector(selectors.SelectSelector):
    """Instead of waiting for a time, makes it the present."""

    now = 0.0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        assert timeout is not None, "everything waits and nothing is due"
        self.now += max(0.0, timeout)
        return super().select(0)


class VirtualTimeLoop(asyncio.SelectorEventLoop):
    def __init__(self) -> None:
        self._virtual = _Selector()
        super().__init__(self._virtual)

    def time(self) -> float:
        return self._virtual.now

    def work(self, seconds: float) -> None:
        """Let time pass as a computation does that keeps the loop from everything else."""
        self._virtual.now += seconds


def run_virtually(coroutine: Coroutine[Any, Any, T]) -> T:
    """The result of `coroutine`, begun at time 0."""
    with asyncio.Runner(loop_factory=VirtualTimeLoop) as runner:
        return runner.run(coroutine)
