"""A program that is killed and started again on the same ports and data."""

import asyncio
import os
import signal
import subprocess

from services.local.failure import Failure
from services.local.service_process import ServiceSpec, last_words, manner_of_end
from services.local.tethered import tethered

_POLL_S = 0.05
_READY_WITHIN_S = 120.0
_STOP_GRACE_S = 30.0


class Killable:
    """One program; it ends with this process, however that one ends. To be used from one thread."""

    def __init__(self, spec: ServiceSpec) -> None:
        self._spec = spec
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def process_id(self) -> int:
        """The id of the process that was started last."""
        assert self._process is not None, "it was started"
        return self._process.pid

    def start(self) -> None:
        """Start it; `until_ready` waits for it."""
        with self._spec.log.open("ab") as log:
            self._process = subprocess.Popen(
                tethered(self._spec.command),
                env=os.environ | self._spec.environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                process_group=0,
            )

    async def until_ready(self) -> None:
        """Return once it serves. Raises Failure when it ended, or two minutes are over."""
        try:
            async with asyncio.timeout(_READY_WITHIN_S):
                while not await self._spec.is_ready():
                    self._require_running()
                    await asyncio.sleep(_POLL_S)
        except TimeoutError:
            raise Failure(f"{self._spec.name} is not ready after {_READY_WITHIN_S:.0f} s") from None

    def kill(self) -> None:
        """End it at once (SIGKILL), with whatever it started."""
        assert self._process is not None, "it was started"
        self._require_running()
        os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()

    def stop(self) -> None:
        """End it if it runs; after half a minute it is killed."""
        if self._process is None or self._process.poll() is not None:
            return
        self._process.terminate()
        try:
            self._process.wait(_STOP_GRACE_S)
        except subprocess.TimeoutExpired:
            self.kill()

    def _require_running(self) -> None:
        if self._process is not None and (code := self._process.poll()) is not None:
            raise Failure(f"{self._spec.name} {manner_of_end(code)}: {last_words(self._spec.log)}")
