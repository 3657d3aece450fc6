"""One service as a child process: started, watched until it is ready, started again whenever it ends."""

import asyncio
import json
import os
import signal
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from services.local.failure import Failure
from services.local.tethered import tethered

_POLL_S = 0.1
# Loading a large model from a slow disk takes minutes, not longer.
_READY_WITHIN_S = 300.0
FIRST_DELAY_S = 0.5
LONGEST_DELAY_S = 30.0
# A service that has served for so long has got over what ended it before.
HEALTHY_AFTER_S = 60.0


@dataclass(frozen=True, slots=True)
class ServiceSpec:
    """How to run one service: its command, its own environment variables, its log, and how to tell that it is ready.

    The command is `("-m", module)` or a program with its arguments.
    """

    name: str
    command: tuple[str, ...]
    environment: Mapping[str, str]
    log: Path
    is_ready: Callable[[], Awaitable[bool]]


def restart_delay(before_s: float, served_s: float) -> float:
    """Seconds to wait before the next start, given the wait before the last one (0 for none) and how long it served."""
    if before_s == 0 or served_s >= HEALTHY_AFTER_S:
        return FIRST_DELAY_S
    return min(2 * before_s, LONGEST_DELAY_S)


def manner_of_end(code: int) -> str:
    """An exit code in words."""
    return f"was killed by {signal.Signals(-code).name}" if code < 0 else f"ended with exit code {code}"


def last_words(log: Path) -> str:
    """The sentence that a program left at the end of its log: its last plain line, else its last event."""
    with log.open("rb") as stream:
        stream.seek(max(0, log.stat().st_size - 8192))
        lines = [line for line in stream.read().decode(errors="replace").splitlines() if line.strip()]
    for line in reversed(lines):
        if not line.startswith("{"):
            return line.strip()
    if not lines:
        return "it said nothing"
    try:
        event = json.loads(lines[-1])
    except ValueError:
        return lines[-1]
    return ": ".join(str(event[key]) for key in ("event", "msg", "reason", "error") if key in event)


class ServiceProcess:
    """Runs one service; `report` gets a line about every change of its state.

    With `after` it is started only once that one is ready.
    """

    def __init__(
        self, spec: ServiceSpec, report: Callable[[str], None], *, after: "ServiceProcess | None" = None
    ) -> None:
        self.ready = asyncio.Event()
        self._after = after
        self._spec = spec
        self._report = report
        self._process: asyncio.subprocess.Process | None = None

    async def live(self, ready_within_s: float = _READY_WITHIN_S) -> None:
        """Start the service and keep it running until this is cancelled, which leaves the process as it is.

        `ready` is set from the first time that it is ready on. Raises Failure when it ends before that, or is not
        ready within `ready_within_s` seconds.
        """
        if self._after:
            await self._after.ready.wait()
        delay_s = 0.0
        while True:
            started = time.monotonic()
            process = self._process = await self._spawn()
            is_ready = await self._becomes_ready(process, ready_within_s)
            ready_at = time.monotonic()
            if is_ready:
                self._say(f"ready after {ready_at - started:.1f} s, process {process.pid}")
                self.ready.set()
            elif process.returncode is None and not self.ready.is_set():
                raise self._start_failed(f"is not ready after {ready_within_s:.0f} s")
            code = await process.wait()
            if not self.ready.is_set():
                raise self._start_failed(f"{manner_of_end(code)} at its start")
            delay_s = restart_delay(delay_s, time.monotonic() - ready_at if is_ready else 0.0)
            self._say(f"{manner_of_end(code)}; starting again in {delay_s:.1f} s")
            await asyncio.sleep(delay_s)

    async def stop(self, grace_s: float) -> None:
        """Ask the process to end and wait; after `grace_s` seconds it is killed with whatever it started."""
        process = self._process
        if process is None or process.returncode is not None:
            return
        process.terminate()
        try:
            async with asyncio.timeout(grace_s):
                await process.wait()
            self._say("stopped")
        except TimeoutError:
            self.kill()
            await process.wait()
            self._say(f"did not end within {grace_s:.0f} s and was killed")

    def kill(self) -> None:
        """End the process and whatever it started, at once."""
        if self._process is not None and self._process.returncode is None:
            os.killpg(self._process.pid, signal.SIGKILL)

    async def _spawn(self) -> asyncio.subprocess.Process:
        # A process group of its own keeps the terminal's Ctrl-C away: the supervisor decides who ends when.
        with self._spec.log.open("ab") as log:
            return await asyncio.create_subprocess_exec(
                *tethered(self._spec.command),
                env=os.environ | self._spec.environment,
                stdin=asyncio.subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                process_group=0,
            )

    async def _becomes_ready(self, process: asyncio.subprocess.Process, within_s: float) -> bool:
        """True once the service is ready; False when the process ended before or the time is up."""
        try:
            async with asyncio.timeout(within_s):
                while process.returncode is None:
                    if await self._spec.is_ready():
                        return process.returncode is None
                    await asyncio.sleep(_POLL_S)
        except TimeoutError:
            pass
        return False

    def _start_failed(self, how: str) -> Failure:
        self._say(how)  # at once: the sentence comes when everything else has been stopped
        return Failure(f"{self._spec.name} {how}: {last_words(self._spec.log)} (see {self._spec.log})")

    def _say(self, state: str) -> None:
        self._report(f"{self._spec.name:<10} {state}")
