"""Pages of one ranked window: by offset, and by cursor while the collection changes."""

from collections.abc import AsyncIterator
from typing import Any

import grpc
import pytest

from plumbline.ranking.v1 import ranking_pb2
from plumbline.search.v1 import search_pb2 as pb
from tests.component.search.searching import RANKING, Searching, a_chunk, documents, id_of, only, retrieval, searching

INVALID_CURSOR = (grpc.StatusCode.INVALID_ARGUMENT, "cursor")


def cell(number: int, **changes: Any) -> Any:
    fields = {"metadata": {"kind": "paper", "year": 2000 + number}} | changes
    return a_chunk(f"d{number:02d}", "Solar cells " + "again " * number, [1, number / 10, 0, 0], **fields)


@pytest.fixture
async def service() -> AsyncIterator[Searching]:
    async with searching(*(cell(number) for number in range(23))) as running:
        yield running


async def pages(service: Searching, **changes: Any) -> AsyncIterator[pb.SearchResponse]:
    """All pages by cursor."""
    page = await service.search(**changes)
    yield page
    while page.next:
        page = await service.search(cursor=page.next, **changes)
        yield page


async def test_pages_by_cursor_are_the_window_cut_up(service: Searching) -> None:
    whole = await service.search(limit=23)
    hits = [hit async for page in pages(service, limit=5) for hit in page.hits]
    assert [hit.chunk_id for hit in hits] == [hit.chunk_id for hit in whole.hits]
    assert [hit.rank for hit in hits] == list(range(1, 24))
    assert [hit.score for hit in hits] == [hit.score for hit in whole.hits]


async def test_pages_by_offset_are_the_same_ones(service: Searching) -> None:
    by_offset = [name for offset in (0, 5, 10) for name in await service.found(limit=5, offset=offset)]
    assert len(set(by_offset)) == 15
    assert by_offset == documents(await service.search(limit=15))


async def test_a_cursor_goes_on_after_an_offset(service: Searching) -> None:
    page = await service.search(limit=5, offset=10)
    after = await service.search(limit=8, cursor=page.next)
    assert documents(after) == await service.found(limit=8, offset=15)
    assert after.next == ""


async def test_the_last_page_and_one_beyond_what_was_found_have_no_next(service: Searching) -> None:
    assert (await service.search(limit=23)).next == ""
    beyond = await service.search(limit=10, offset=50)
    assert (len(beyond.hits), beyond.next, beyond.window) == (0, "", 23)


async def test_the_last_page_of_the_window_is_cut_at_its_end(service: Searching) -> None:
    window = {"retrieval": retrieval(window=20)}
    whole = documents(await service.search(limit=20, **window))
    assert await service.found(limit=7, offset=18, **window) == whole[18:]
    assert await service.found(limit=7, offset=20, **window) == []
    assert await service.found(limit=1000, **window) == whole
    assert await service.refused(limit=7, offset=21, **window) == (grpc.StatusCode.INVALID_ARGUMENT, "offset")


async def test_a_window_smaller_than_the_limit_gives_what_it_holds(service: Searching) -> None:
    page = await service.search(retrieval=retrieval(window=5))
    assert (len(page.hits), page.window, page.next) == (5, 5, "")


async def test_a_page_by_cursor_searches_nothing_again_and_says_what_its_window_is(service: Searching) -> None:
    first = await service.search(limit=20)
    service.index.calls.clear()
    second = await service.search(limit=20, cursor=first.next)
    assert service.index.calls == ["fetch"]
    assert (second.window, second.generation, second.timings.keyword_ms) == (23, first.generation, 0)
    assert not second.HasField("signals")


async def test_a_page_by_cursor_lacks_what_its_window_lacks(service: Searching) -> None:
    async def fails(_: Any) -> Any:
        raise AssertionError("the embedding service has a bug")

    service.embedding.behaviour = fails
    first = await service.search(limit=20)
    assert list(first.degraded) == ["vector"]
    assert list((await service.search(limit=20, cursor=first.next)).degraded) == ["vector"]


async def test_each_hit_comes_once_while_documents_come_change_and_go(service: Searching) -> None:
    expected = documents(await service.search(limit=23))
    seen: list[str] = []
    async for page in pages(service, limit=5):
        seen += documents(page)
        number = len(seen)
        await service.index.upsert(
            "g1", [cell(number, revision=9), a_chunk(f"new{number}", "Solar cells", [1, 0, 0, 0])]
        )
        await service.index.delete("g1", [id_of(expected[-1])])
    assert seen == expected[:-1]


async def test_a_hit_that_no_longer_meets_the_filter_is_left_out(service: Searching) -> None:
    papers = only("kind", "paper")
    first = await service.search(limit=20, filter=papers)
    later = documents(await service.search(limit=3, offset=20))
    await service.index.upsert("g1", [cell(int(later[0][1:]), metadata={"kind": "draft"})])
    assert documents(await service.search(limit=20, filter=papers, cursor=first.next)) == later[1:]


async def test_the_older_of_two_revisions_is_left_out_of_a_page(service: Searching) -> None:
    chunks = [a_chunk(f"part{n}", "Solar cells", [1, 0, 0, 0], document_id="doc", ordinal=n) for n in range(2)]
    await service.index.upsert("g1", chunks)
    first = await service.search(limit=1, filter=only("id", "doc"))
    kept = {hit.chunk_id for hit in first.hits}
    (rest,) = {chunk.chunk_id for chunk in chunks} - kept
    await service.index.upsert(
        "g1", [a_chunk("part2", "Solar cells", [1, 0, 0, 0], chunk_id=rest, document_id="doc", revision=2)]
    )
    assert documents(await service.search(limit=1, filter=only("id", "doc"), cursor=first.next)) == ["doc"]


async def test_a_document_s_further_chunks_come_with_later_pages_too() -> None:
    chunks = [
        a_chunk(f"{name}{n}", "Solar cells", [1, n / 10, 0, 0], document_id=name, ordinal=n)
        for name in "ab"
        for n in range(2)
    ]
    async with searching(*chunks) as service:
        collapsed = {"retrieval": retrieval(collapse_by_document=True), "limit": 1}
        whole = (await service.search(**collapsed | {"limit": 2})).hits
        paged = [hit async for page in pages(service, **collapsed) for hit in page.hits]
        assert [list(hit.also) for hit in paged] == [list(hit.also) for hit in whole]
        assert len(paged) == 2


async def test_a_changed_cursor_is_refused(service: Searching) -> None:
    cursor = (await service.search(limit=5)).next
    for forged in (cursor[:-4], "A" + cursor[1:] if cursor[0] != "A" else "B" + cursor[1:], cursor + "AAAA", "x"):
        assert await service.refused(limit=5, cursor=forged) == INVALID_CURSOR


@pytest.mark.parametrize(
    "changes",
    [
        {"query": "turbine"},
        {"filter": only("kind", "paper")},
        {"mode": pb.MODE_KEYWORD},
        {"retrieval": retrieval(depth=50)},
        {"ranking": ranking_pb2.RankingSettings(relevance=1, recency_places=3)},
        {"generation_id": "g1"},
        {"locale": "tr"},
    ],
)
async def test_a_cursor_of_another_search_is_refused(service: Searching, changes: dict[str, Any]) -> None:
    cursor = (await service.search(limit=5)).next
    assert await service.refused(**{"limit": 5, "cursor": cursor} | changes) == INVALID_CURSOR


async def test_a_cursor_of_another_collection_is_refused(service: Searching) -> None:
    service.catalog.active["other"] = service.catalog.active["c"]
    cursor = (await service.search(limit=5)).next
    assert await service.refused(collection="other", limit=5, cursor=cursor) == INVALID_CURSOR


async def test_replicas_with_one_secret_read_each_other_s_cursors_and_others_do_not() -> None:
    chunks = [cell(number) for number in range(3)]
    async with (
        searching(*chunks, cursor_secret="one secret of all replicas") as first,
        searching(*chunks, cursor_secret="one secret of all replicas") as second,
        searching(*chunks) as stranger,
    ):
        page = await first.search(limit=1)
        assert documents(await second.search(limit=1, cursor=page.next)) == await first.found(limit=1, offset=1)
        assert await stranger.refused(limit=1, cursor=page.next) == INVALID_CURSOR


async def test_a_cursor_outlives_a_promotion_and_ends_with_its_index(service: Searching) -> None:
    page = await service.search(limit=20)
    del service.catalog.active["c"]
    assert len((await service.search(limit=20, cursor=page.next)).hits) == 3
    await service.index.drop_generation("g1")
    assert await service.refused(limit=20, cursor=page.next) == INVALID_CURSOR


async def test_a_page_by_cursor_has_no_ledger(service: Searching) -> None:
    page = await service.search(limit=5, ranking=RANKING)
    assert await service.refused(limit=5, cursor=page.next, explain=True) == (
        grpc.StatusCode.INVALID_ARGUMENT, "explain"
    )  # fmt: skip
