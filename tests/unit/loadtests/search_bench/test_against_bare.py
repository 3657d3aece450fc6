import pytest

from loadtests.search_bench.against_bare import without_embedding_ms
from plumbline.search.v1 import search_pb2


@pytest.mark.parametrize(
    ("keyword", "embed", "vector", "expected"),
    [
        (10, 5, 20, 35),  # the vector leg was waited for: all of embedding is taken off
        (50, 5, 20, 40),  # the keyword leg was waited for all the same
        (22, 5, 20, 37),  # without embedding the keyword leg would have been the last, at 22 instead of 25
    ],
)
def test_only_what_embedding_added_is_taken_off(keyword: float, embed: float, vector: float, expected: float) -> None:
    timings = search_pb2.SearchTimings(keyword_ms=keyword, embed_ms=embed, vector_ms=vector, total_ms=40)
    assert without_embedding_ms(timings) == pytest.approx(expected)
