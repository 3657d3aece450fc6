"""Where and from which code a measurement comes."""

import os
import platform
import subprocess
from pathlib import Path

from pydantic import Field

from loadtests.strict import StrictFile

_ROOT = Path(__file__).resolve().parents[1]


class Machine(StrictFile):
    """The hardware and system of a run."""

    cpu: str
    cores: int = Field(description="Cores that this process may use.")
    memory_gib: float
    system: str
    python: str


class Source(StrictFile):
    """The code of a run; `commit` is null where this is no git checkout."""

    commit: str | None
    dirty: bool = Field(description="Tracked files differed from the commit.")


def this_machine() -> Machine:
    """The machine that this process runs on."""
    memory_bytes = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return Machine(
        cpu=_cpu(),
        cores=len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1,
        memory_gib=round(memory_bytes / 2**30, 1),
        system=platform.platform(),
        python=platform.python_version(),
    )


def this_source() -> Source:
    """The code that this process runs."""
    commit = _git("rev-parse", "HEAD")
    return Source(commit=commit, dirty=bool(commit and _git("status", "--porcelain", "--untracked-files=no")))


def _cpu() -> str:
    cpuinfo = Path("/proc/cpuinfo")
    lines = cpuinfo.read_text().splitlines() if cpuinfo.is_file() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()


def _git(*arguments: str) -> str | None:
    try:
        done = subprocess.run(("git", *arguments), cwd=_ROOT, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    return done.stdout.strip()
