import ctypes
import os
from pathlib import Path

import pytest

from services.shared.runtime.allocator import give_back_freed_memory

LIBRARY = ctypes.CDLL(None)
BLOCK, BLOCKS = 64 * 1024, 2_000


def resident_bytes() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


@pytest.mark.skipif(not hasattr(LIBRARY, "malloc_trim"), reason="this C library has no such call")
def test_memory_below_a_block_that_is_still_in_use_is_given_back() -> None:
    LIBRARY.malloc.restype, LIBRARY.malloc.argtypes = ctypes.c_void_p, [ctypes.c_size_t]
    LIBRARY.free.argtypes = [ctypes.c_void_p]
    blocks = [LIBRARY.malloc(BLOCK) for _ in range(BLOCKS)]
    for block in blocks:
        ctypes.memset(block, 1, BLOCK)
    *freed, last = blocks
    for block in freed:
        LIBRARY.free(block)
    before = resident_bytes()
    give_back_freed_memory()
    assert before - resident_bytes() > BLOCK * BLOCKS / 2
    LIBRARY.free(last)
