"""How far a generation's keyword statistics may be off. Pure."""

from dataclasses import dataclass

# Chunks that were replaced or deleted, as a share of those that live. Their weight in idf and in the mean length moves
# scores by about as much; a rebuild reads every chunk.
_MUCH = 0.02


@dataclass(slots=True)
class Churn:
    """What one process has written to a generation since its keyword index was last built.

    Weaviate counts a chunk that was replaced or deleted as one more until its files happen to be merged.
    """

    live_at_start: int
    written: int = 0
    deleted: int = 0

    def dead(self, live: int) -> int:
        """How many chunks were replaced or deleted, when `live` are there now."""
        new = live - self.live_at_start + self.deleted
        return max(0, self.written - new) + self.deleted

    def is_much(self, live: int) -> bool:
        """Whether the keyword index is worth building anew."""
        return self.dead(live) > _MUCH * live
