"""How large the chunks of a collection are and what in its documents is never cut."""

from dataclasses import dataclass
from typing import Literal

# What leaves no room for anything else in the 2,500 tokens of an answer's passages is an article, not a card.
_LARGEST_CARD_TOKENS = 2_000
# No dictionary has a longer entry; a file without headings would be one of any size, and too large to embed.
_LARGEST_ENTRY_TOKENS = 20_000


@dataclass(frozen=True, slots=True)
class ChunkProfile:
    """Sizes are in `measure`: tokens of the embedding model, or code points.

    Headings deeper than `section_depth` open no section of their own; None: every heading does. A section of at most
    `whole_section` is one chunk, whatever the target. Raises ValueError for sizes that contradict each other.
    """

    target: int
    overlap: int
    minimum: int
    measure: Literal["tokens", "characters"] = "tokens"
    section_depth: int | None = None
    whole_section: int = 0

    def __post_init__(self) -> None:
        if self.target < 1:
            raise ValueError(f"a chunk's target must be at least 1, not {self.target}")
        if not 0 <= self.overlap < self.target:
            raise ValueError(
                f"a chunk's overlap must be at least 0 and below its target {self.target}, not {self.overlap}"
            )
        if not 0 <= self.minimum <= self.target:
            raise ValueError(
                f"a chunk's minimum must be at least 0 and at most its target {self.target}, not {self.minimum}"
            )


def chunk_profile(name: str, *, target: int, overlap: int, minimum: int) -> ChunkProfile:
    """The profile called `name` with a collection's sizes. Raises ValueError for an unknown name or bad sizes.

    In a lesson the first level of headings is units and the second cards, in a dictionary the second is entries; what
    stands under deeper headings belongs to the card or entry. Cards stay whole up to 2,000 tokens, entries up to
    20,000.
    """
    match name:
        case "docs" | "paper":
            return ChunkProfile(target, overlap, minimum)
        case "lesson":
            return ChunkProfile(target, overlap, minimum, section_depth=2, whole_section=_LARGEST_CARD_TOKENS)
        case "entry":
            return ChunkProfile(target, overlap, minimum, section_depth=2, whole_section=_LARGEST_ENTRY_TOKENS)
        case "plain":
            return ChunkProfile(target, overlap, minimum, measure="characters")
        case _:
            raise ValueError(f"there is no chunk profile '{name}'; there are docs, paper, lesson, entry and plain")
