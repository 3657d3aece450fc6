"""Stand-in services: tiny real programs that the supervisor starts instead of Plumbline's own."""

import asyncio
import os
import select
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from services.local.service_process import ServiceProcess, ServiceSpec

# Adds its process id to a file, which counts as being ready, and then waits.
_PROGRAM = """
import os, pathlib, signal, sys
{before}
with open({starts!r}, "a") as starts:
    starts.write(f"{{os.getpid()}}\\n")
signal.sigwait([signal.SIGTERM]) if {waits} else signal.pause()
"""


@dataclass
class StandIns:
    """Makes stand-ins in one folder and keeps every line that they report."""

    folder: Path
    lines: list[str] = field(default_factory=list)
    _reported: asyncio.Event = field(default_factory=asyncio.Event)

    def make(
        self, name: str, *, before: str = "", ignores_sigterm: bool = False, after: ServiceProcess | None = None
    ) -> ServiceProcess:
        """A stand-in that runs the lines `before` and is ready after them."""
        starts = self.folder / f"{name}.starts"
        if ignores_sigterm:
            before += "\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)"
        else:
            before += "\nsignal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTERM])"
        program = _PROGRAM.format(before=before, starts=str(starts), waits=not ignores_sigterm)
        (self.folder / f"stand_in_{name}.py").write_text(program)

        seen = 0

        async def is_ready() -> bool:
            nonlocal seen
            is_new = len(self.pids(name)) > seen
            seen += is_new
            return is_new

        environment = {"PYTHONPATH": f"{Path.cwd()}{os.pathsep}{self.folder}"}
        spec = ServiceSpec(name, ("-m", f"stand_in_{name}"), environment, self.folder / f"{name}.log", is_ready)
        return ServiceProcess(spec, self._report, after=after)

    def _report(self, line: str) -> None:
        self.lines.append(line)
        self._reported.set()

    async def until_reported(self, words: str, times: int) -> None:
        """Return when `times` of the lines hold `words`; fails after twenty seconds."""
        async with asyncio.timeout(20):
            while sum(words in line for line in self.lines) < times:
                self._reported.clear()
                await self._reported.wait()

    def pids(self, name: str) -> list[int]:
        """The process ids of the starts of `name`, oldest first."""
        starts = self.folder / f"{name}.starts"
        return [int(line) for line in starts.read_text().split("\n")[:-1]] if starts.exists() else []


@pytest.fixture
def stand_ins(tmp_path: Path) -> StandIns:
    return StandIns(tmp_path)


@pytest.fixture
def has_ended() -> Callable[[int], bool]:
    """Waits up to ten seconds for the end of a process, which may be another's child."""

    def wait(pid: int) -> bool:
        try:
            watched = os.pidfd_open(pid)
        except ProcessLookupError:
            return True
        poll = select.poll()
        poll.register(watched, select.POLLIN)
        ended = bool(poll.poll(10_000))
        os.close(watched)
        return ended

    return wait
