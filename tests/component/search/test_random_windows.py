"""Paging through random windows by ten, while documents come, change and go between two pages."""

from collections import Counter
from collections.abc import Sequence

from plumbline.search.v1 import search_pb2 as pb
from tests.component.search.changing import Changing, queries
from tests.component.search.searching import PATIENT, searching

WINDOWS, LIMIT = 500, 10


async def test_each_hit_of_500_random_windows_comes_once_while_documents_change() -> None:
    changing = Changing(8)
    chunks = [chunk for _ in range(40) for chunk in changing.new()]
    vectors, pages = queries(seed=8), 0
    async with searching(*chunks, vectors=vectors, **PATIENT) as service:
        for number in range(WINDOWS):
            query, settings = list(vectors)[number % len(vectors)], changing.settings()
            whole = [hit.chunk_id for hit in (await service.search(query, limit=1000, timeout=60, **settings)).hits]
            page = await service.search(query, limit=LIMIT, timeout=60, **settings)
            seen, gone = chunks_of(page), set[str]()
            while page.next:
                pages += 1
                gone |= await changing.change(service)
                page = await service.search(query, limit=LIMIT, cursor=page.next, timeout=60, **settings)
                assert len(page.hits) <= LIMIT
                seen += chunks_of(page)
            assert max(Counter(seen).values(), default=1) == 1
            # Those that were deleted before their page came are left out; every other one comes, in its place.
            assert seen == [chunk_id for chunk_id in whole if chunk_id in seen or chunk_id not in gone]
    assert pages > WINDOWS


def chunks_of(page: pb.SearchResponse) -> Sequence[str]:
    return [hit.chunk_id for hit in page.hits]
