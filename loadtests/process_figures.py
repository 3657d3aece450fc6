"""What a process on this machine uses."""

import os
from pathlib import Path


def resident_mib(process_id: int) -> float:
    """Its resident memory."""
    pages = int(Path(f"/proc/{process_id}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


def cpu_s(process_id: int) -> float:
    """Processor seconds that it has used, of all its threads."""
    fields = Path(f"/proc/{process_id}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
