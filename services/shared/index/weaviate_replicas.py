"""Several replicas' answers to one read, made into one. Pure."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from services.shared.index.weaviate_leg import ranked
from services.shared.index.weaviate_requests import Copy


@dataclass(frozen=True, slots=True)
class Union:
    """The newest copy of every chunk that a replica brought, in the order of hits; `doubtful` were not brought by all.

    A doubtful chunk is one that was just written, changed or deleted, or one that only a longer answer would hold.
    """

    found: tuple[Copy, ...]
    doubtful: frozenset[str]

    def without(self, chunk_ids: set[str]) -> "Union":
        """The rest, when these are gone."""
        kept = tuple(copy for copy in self.found if copy.chunk_id not in chunk_ids)
        return Union(kept, self.doubtful - chunk_ids)

    def doubtful_among_first(self, limit: int | None) -> list[Copy]:
        """The doubtful ones of the first `limit`."""
        return [copy for copy in self.found[:limit] if copy.chunk_id in self.doubtful]

    def settled(self, chunk_ids: set[str]) -> "Union":
        """The same, with these no longer doubtful."""
        return Union(self.found, self.doubtful - chunk_ids)


def union_of(answers: Sequence[Sequence[Copy]]) -> Union:
    """The union of the replicas' answers."""
    newest: dict[str, Copy] = {}
    for copy in (copy for answer in answers for copy in answer):
        known = newest.get(copy.chunk_id)
        if known is None or copy.written_ms > known.written_ms:
            newest[copy.chunk_id] = copy
    brought = Counter(copy.chunk_id for answer in answers for copy in answer)
    doubtful = frozenset(chunk_id for chunk_id, times in brought.items() if times < len(answers))
    return Union(tuple(ranked(list(newest.values()))), doubtful)
