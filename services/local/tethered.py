"""Runs a program that does not outlive its parent.

`python -m services.local.tethered PARENT_PID -m MODULE` runs a module, `... PARENT_PID PROGRAM ARGUMENT...` becomes
another program. On Linux the kernel ends it with its parent, even when that one is killed without a chance to clean up.
Elsewhere it is a plain run.
"""

import ctypes
import os
import runpy
import signal
import sys

_PR_SET_PDEATHSIG = 1  # linux/prctl.h


def tethered(command: tuple[str, ...]) -> tuple[str, ...]:
    """The command line that runs `command`, `("-m", module)` or a program with its arguments, as a child of this one.

    The kernel counts the thread that starts the child as its parent: start it from one that lives as long as it.
    """
    return (sys.executable, "-m", "services.local.tethered", str(os.getpid()), *command)


def main(parent_pid: int, command: list[str]) -> None:
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != parent_pid:  # it ended before it was watched
            return
    if command[0] != "-m":
        os.execv(command[0], command)
    sys.argv = command[1:]
    runpy.run_module(command[1], run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2:])
