"""The promotion gate: does the new generation find the judged documents as well as the serving one?"""

import asyncio
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from statistics import fmean

from services.ingest.domain.ndcg import ndcg_at_10
from services.ingest.ports import Searcher
from services.shared.catalog.catalog import Catalog
from services.shared.catalog.collections import Collection
from services.shared.catalog.documents import MAX_PAGE
from services.shared.catalog.judgments import Judgment
from services.shared.runtime.errors import Conflict

_AT_ONCE = 8  # queries under way; a gate must not crowd out those of users


@dataclass(frozen=True, slots=True)
class GateFigures:
    """Mean nDCG@10 of both generations over the judged queries; without any, both are 0."""

    queries: int
    serving_ndcg10: float
    candidate_ndcg10: float


class Gate:
    """Compares two generations of a collection by searching both."""

    def __init__(self, catalog: Catalog, searcher: Searcher | None) -> None:
        self._catalog = catalog
        self._searcher = searcher

    async def measure(self, collection: Collection, candidate_id: str) -> GateFigures:
        """The figures of the candidate and the active generation.

        Raises Conflict when no search service is configured or it searches without one of its legs, which compares
        nothing; DependencyUnavailable.
        """
        serving: list[float] = []
        candidate: list[float] = []
        async for batch in self._judgments(collection.declaration.name):
            serving += await self._scores(collection, batch, collection.active.id)
            candidate += await self._scores(collection, batch, candidate_id)
        if not serving:
            return GateFigures(0, 0.0, 0.0)
        return GateFigures(len(serving), fmean(serving), fmean(candidate))

    async def _scores(self, collection: Collection, batch: Sequence[Judgment], generation_id: str) -> list[float]:
        return await asyncio.gather(*(self._score(collection, judgment, generation_id) for judgment in batch))

    async def _score(self, collection: Collection, judgment: Judgment, generation_id: str) -> float:
        if self._searcher is None:
            raise Conflict("the collection has judged queries and ingest knows no search service to ask them")
        found = await self._searcher.find(collection, judgment, generation_id)
        if found.degraded:
            parts = ", ".join(found.degraded)
            raise Conflict(
                f"search does without {parts} for generation '{generation_id}', so the gate compares nothing"
            )
        return ndcg_at_10(found.document_ids, judgment.relevance)

    async def _judgments(self, collection: str) -> AsyncIterator[list[Judgment]]:
        after: str | None = None
        while True:
            page = await self._catalog.judgments.list(collection, after=after, limit=MAX_PAGE)
            for start in range(0, len(page.judgments), _AT_ONCE):
                yield list(page.judgments[start : start + _AT_ONCE])
            if page.next is None:
                return
            after = page.next
