"""How far a leg asks a node, and how it cuts."""

import math
from collections.abc import Sequence

import numpy as np
import pytest
from weaviate.proto.v1 import base_pb2, properties_pb2, search_get_pb2

from services.shared.index.weaviate_filter import every_chunk
from services.shared.index.weaviate_leg import Reach, keyword_leg, vector_leg
from services.shared.index.weaviate_requests import Wanted

QUERY = np.array([1, 0], dtype=np.float32)


def result(chunk_id: str, score: float, windows: int = 1) -> search_get_pb2.SearchResult:
    fields = {
        "chunk_id": properties_pb2.Value(text_value=chunk_id),
        "windows": properties_pb2.Value(int_value=windows),
    }
    return search_get_pb2.SearchResult(
        properties=search_get_pb2.PropertiesResult(non_ref_props=properties_pb2.Properties(fields=fields)),
        metadata=search_get_pb2.MetadataResult(
            id=f"object of {chunk_id}", distance=-score, score=score, score_present=True
        ),
    )


class FakeNode:
    """A node that finds `results` in order, by so many windows as it is asked for; in a scan by so many chunks."""

    def __init__(self, results: Sequence[search_get_pb2.SearchResult], *, unreachable: int = 0) -> None:
        self.results = list(results)
        self.unreachable = unreachable
        self.limits: list[int] = []

    async def search(self, request: search_get_pb2.SearchRequest) -> search_get_pb2.SearchReply:
        if not request.HasField("near_vector") and not request.HasField("bm25_search"):
            wanted = set(request.filters.value_text_array.values)
            return search_get_pb2.SearchReply(results=[one for one in self.results if one.metadata.id in wanted])
        self.limits.append(request.limit)
        found, windows = [], 0
        scanned = request.HasField("filters")
        for one in self.results if scanned else self.results[self.unreachable :]:
            if windows >= request.limit:
                break
            found.append(one)
            windows += 1 if scanned else one.properties.non_ref_props.fields["windows"].int_value
        return search_get_pb2.SearchReply(results=found)


async def by_vector(node: FakeNode, limit: int, filters: base_pb2.Filters | None, reach: Reach) -> list[str]:
    found = await vector_leg(node, "C", QUERY, filters, limit, Wanted(), reach)  # type: ignore[arg-type]
    return [copy.chunk_id for copy in found]


def falling(count: int, windows: int = 1) -> list[search_get_pb2.SearchResult]:
    return [result(f"c{number:03d}", 1 - number / 1000, windows) for number in range(count)]


async def test_one_window_a_chunk_is_asked_for_once() -> None:
    node = FakeNode(falling(50))
    assert await by_vector(node, 10, None, Reach()) == [f"c{number:03d}" for number in range(10)]
    assert node.limits == [11]


async def test_where_chunks_have_more_windows_more_windows_are_asked_for_and_so_the_next_time() -> None:
    node, reach = FakeNode(falling(50, windows=3)), Reach()
    assert len(await by_vector(node, 10, None, reach)) == 10
    # 11 windows are of 4 chunks, so 11 chunks should have 11 / 4 times as many, and a fifth to spare: 37, of 13 chunks.
    assert node.limits == [11, 37]
    assert len(await by_vector(node, 10, None, reach)) == 10
    assert node.limits == [11, 37, math.ceil(11 * 37 / 13 * 1.2)]


async def test_the_reach_falls_where_chunks_have_fewer_windows() -> None:
    reach = Reach()
    await by_vector(FakeNode(falling(50, windows=3)), 10, None, reach)
    assert reach.windows_per_chunk > 3
    await by_vector(FakeNode(falling(50)), 10, None, reach)
    assert reach.windows_per_chunk == 1


async def test_one_chunk_of_very_many_windows_does_not_multiply_the_reach() -> None:
    node = FakeNode([result("c000", 1, 300), *falling(50)[1:]])
    assert len(await by_vector(node, 10, None, Reach())) == 10
    assert node.limits == [11, 44, 176, 704]


async def test_what_the_graph_does_not_reach_is_scanned_for_when_all_is_wanted() -> None:
    node = FakeNode(falling(5), unreachable=2)
    assert await by_vector(node, 10, None, Reach()) == [f"c{number:03d}" for number in range(5)]
    assert node.limits == [11, 11]


async def test_filtered_search_that_finds_less_than_asked_for_has_found_all() -> None:
    node = FakeNode(falling(5))
    assert len(await by_vector(node, 10, every_chunk(), Reach())) == 5
    assert node.limits == [11]


async def test_small_generation_does_not_raise_the_reach() -> None:
    node, reach = FakeNode(falling(8, windows=2)), Reach()
    assert len(await by_vector(node, 10, None, reach)) == 8
    assert reach.windows_per_chunk == 1


@pytest.mark.parametrize("limit", [1, 3])
async def test_tie_across_the_cut_is_ordered_by_chunk_id(limit: int) -> None:
    node = FakeNode([result(chunk_id, 1) for chunk_id in ("e", "d", "c", "b", "a")])
    found = await keyword_leg(node, "C", ["w:x"], None, limit, Wanted())  # type: ignore[arg-type]
    assert [copy.chunk_id for copy in found] == ["a", "b", "c"][:limit]
    assert node.limits == [limit + 1, limit + 1_000]


async def test_without_a_tie_at_the_cut_nothing_more_is_asked() -> None:
    node = FakeNode([result("b", 2), result("c", 1), result("a", 0.5), result("d", 0.5)])
    found = await keyword_leg(node, "C", ["w:x"], None, 2, Wanted())  # type: ignore[arg-type]
    assert [copy.chunk_id for copy in found] == ["b", "c"]
    assert node.limits == [3]


async def test_keyword_score_has_the_factor_of_the_textbook() -> None:
    [found] = await keyword_leg(FakeNode([result("a", 0.5)]), "C", ["w:x"], None, 5, Wanted())  # type: ignore[arg-type]
    assert found.score == pytest.approx(0.5 * 2.2)
