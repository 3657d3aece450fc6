"""One line that tells how far a long piece of work has come."""

import sys
import time
from typing import TextIO

_BAR = 24


class ProgressLine:
    """Rewrites its line in place on a terminal; elsewhere (a log, CI) prints only the finished line.

    `total` is in the same unit as what `show` is given.
    """

    def __init__(self, label: str, total: float, unit: str, stream: TextIO | None = None) -> None:
        self._label = label
        self._total = total
        self._unit = unit
        self._stream = stream or sys.stdout
        self._began = time.monotonic()

    def show(self, done: float) -> None:
        """Show that `done` of the total is reached; never shows more than the total."""
        if self._stream.isatty():
            done = min(done, self._total)
            filled = round(_BAR * done / self._total) if self._total else _BAR
            bar = "#" * filled + "." * (_BAR - filled)
            self._write(f"\r{self._label}  [{bar}] {done:.0f}/{self._total:.0f} {self._unit}\x1b[K")

    def finish(self, note: str = "") -> None:
        """End the line with the total, the time it took and `note`."""
        start, clear = ("\r", "\x1b[K") if self._stream.isatty() else ("", "")
        seconds = time.monotonic() - self._began
        self._write(f"{start}{self._label}  {self._total:.0f} {self._unit} in {seconds:.1f} s{note}{clear}\n")

    def abandon(self) -> None:
        """Clear the line of work that failed."""
        if self._stream.isatty():
            self._write("\r\x1b[K")

    def _write(self, text: str) -> None:
        self._stream.write(text)
        self._stream.flush()
