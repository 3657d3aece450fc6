"""What the C library does with memory that was freed."""

import ctypes


def give_back_freed_memory() -> None:
    """Give the system back what libraries have freed; glibc keeps it, in pools for each of their threads.

    For a caller that has just done something large and rare: it takes some milliseconds. Does nothing where the C
    library has no such call.
    """
    library = ctypes.CDLL(None)
    if hasattr(library, "malloc_trim"):
        library.malloc_trim(0)
