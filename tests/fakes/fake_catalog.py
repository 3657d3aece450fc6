"""What search asks of the catalog, in memory."""

from collections.abc import Sequence

from services.search.domain.term_statistics import TermStatistics
from services.search.ports import Generation
from services.shared.runtime.errors import NotFound
from tests.fakes.fake_index import Fault


class FakeCatalog:
    """`Catalog` for search: `active` and `ready` generations by collection; `fault` comes before every answer.

    `statistics` are those of a generation, whichever tokens are `looked_up`; `statistics_fault` comes before them.
    """

    def __init__(self) -> None:
        self.active: dict[str, Generation] = {}
        self.ready: dict[str, Generation] = {}
        self.fault: Fault | None = None
        self.calls = 0
        self.statistics: dict[str, TermStatistics] = {}
        self.statistics_fault: Fault | None = None
        self.looked_up: list[tuple[str, ...]] = []

    async def generation(self, collection: str, generation_id: str) -> Generation:
        await self.check()
        if collection not in self.active:
            raise NotFound(f"collection '{collection}' does not exist", field="collection")
        active, ready = self.active[collection], self.ready.get(collection)
        for generation in (active, ready):
            if generation and generation.id == (generation_id or active.id):
                return generation
        raise NotFound(f"'{collection}' has no generation '{generation_id}' to search", field="generation_id")

    async def term_statistics(self, generation_id: str, tokens: Sequence[str]) -> TermStatistics | None:
        self.looked_up.append(tuple(tokens))
        if self.statistics_fault:
            await self.statistics_fault()
        return self.statistics.get(generation_id)

    async def check(self) -> None:
        self.calls += 1
        if self.fault:
            await self.fault()

    async def close(self) -> None:
        pass
