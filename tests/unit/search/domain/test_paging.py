import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.search.domain.invalid_query import InvalidQuery
from services.search.domain.paging import check_page, cut_page


@pytest.mark.parametrize(("limit", "offset"), [(1, 0), (100, 0), (1, 99), (7, 98), (1000, 0), (1000, 100)])
def test_a_page_that_begins_within_the_window_is_fine(limit: int, offset: int) -> None:
    check_page(limit=limit, offset=offset, window=100)


@pytest.mark.parametrize(
    ("limit", "offset", "field"),
    [(0, 0, "limit"), (-1, 0, "limit"), (1001, 0, "limit"), (10, 101, "offset"), (10, -1, "offset")],
)
def test_a_page_beyond_the_window_is_refused_by_its_field(limit: int, offset: int, field: str) -> None:
    with pytest.raises(InvalidQuery) as refused:
        check_page(limit=limit, offset=offset, window=100)
    assert refused.value.field == field


def test_a_limit_is_at_most_a_thousand_whatever_the_window() -> None:
    with pytest.raises(InvalidQuery, match="from 1 to 1000, got 1001"):
        check_page(limit=1001, offset=0, window=5000)


def test_an_offset_beyond_the_window_is_told_how_far_it_reaches() -> None:
    with pytest.raises(InvalidQuery, match="from 0 to 100, the hits that can be paged, got 101"):
        check_page(limit=1, offset=101, window=100)


def test_an_offset_beyond_what_was_found_gives_an_empty_page_and_no_rest() -> None:
    assert cut_page("abc", limit=2, offset=5) == ("", "")


@given(st.lists(st.integers(), unique=True), st.lists(st.integers(1, 7), min_size=1))
def test_pages_of_any_sizes_never_overlap_and_never_skip(ranked: list[int], limits: list[int]) -> None:
    shown: list[int] = []
    rest = ranked
    while rest:
        page, rest = cut_page(rest, limit=limits[len(shown) % len(limits)])
        shown += page
    assert shown == ranked


@given(st.lists(st.integers(), unique=True), st.integers(1, 9), st.integers(0, 30))
def test_a_page_by_offset_is_the_same_as_one_by_what_came_before(ranked: list[int], limit: int, offset: int) -> None:
    _, rest = cut_page(ranked, limit=offset) if offset else ([], ranked)
    assert cut_page(ranked, limit=limit, offset=offset) == cut_page(rest, limit=limit)
