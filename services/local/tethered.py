"""`python -m services.local.tethered PARENT_PID MODULE` runs a module as a program that does not outlive its parent.

On Linux the kernel ends it with its parent, even when that one is killed without a chance to clean up. Elsewhere it
is a plain run of the module.
"""

import ctypes
import os
import runpy
import signal
import sys

_PR_SET_PDEATHSIG = 1  # linux/prctl.h


def main(parent_pid: int, module: str) -> None:
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != parent_pid:  # it ended before it was watched
            return
    sys.argv = [module]
    runpy.run_module(module, run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2])
