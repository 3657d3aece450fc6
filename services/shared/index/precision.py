"""How exactly an index keeps vectors."""

from enum import StrEnum


class Precision(StrEnum):
    """`full`: every number in 32 bits. `compact`: in 16 bits where vectors are read, or 8 where they are looked for."""

    FULL = "full"
    COMPACT = "compact"
