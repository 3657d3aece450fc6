"""The folder that one `make run` keeps everything in, held by at most one at a time."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from services.local.failure import Failure


def fresh_log(data: Path, name: str) -> Path:
    """The log of one program, not there yet: what an earlier run left is put aside as `<name>.1.log`."""
    logs = data / "logs"
    logs.mkdir(parents=True, exist_ok=True)
    log = logs / f"{name}.log"
    if log.exists():
        log.replace(logs / f"{name}.1.log")
    return log


@contextmanager
def held(folder: Path) -> Iterator[None]:
    """Make `folder` when it is missing and hold it; the system lets go of it when this process ends, however it ends.

    Raises Failure when another process holds it or it cannot be written.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock = (folder / "lock").open("a+")
    except OSError as error:
        raise Failure(
            f"the data folder {folder} cannot be used ({error.strerror}); choose another: make run DATA=<folder>"
        ) from error
    with lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            lock.seek(0)
            raise Failure(
                f"the data folder {folder} is in use by another `make run` (process {lock.read().strip()}); "
                "stop that one, or choose another folder: make run DATA=<folder>"
            ) from None
        lock.truncate(0)
        lock.write(str(os.getpid()))
        lock.flush()
        yield
