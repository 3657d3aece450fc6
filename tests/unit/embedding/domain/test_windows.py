"""Windows: everything is covered, nothing is over the limit, neighbours overlap."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.embedding.domain.windows import Span, cut_into_windows, window_ranges

ROOMS = st.integers(2, 400).flatmap(lambda room: st.tuples(st.just(room), st.integers(0, room - 1)))


@given(tokens=st.integers(1, 5000), sizes=ROOMS)
def test_windows_cover_every_token_in_order(tokens: int, sizes: tuple[int, int]) -> None:
    room, overlap = sizes
    ranges = window_ranges(tokens, room=room, overlap=overlap)
    assert ranges[0][0] == 0 and ranges[-1][1] == tokens
    assert all(later[0] <= earlier[1] for earlier, later in itertools.pairwise(ranges))
    assert ranges == sorted(set(ranges))


@given(tokens=st.integers(1, 5000), sizes=ROOMS)
def test_no_window_holds_more_than_it_has_room_for(tokens: int, sizes: tuple[int, int]) -> None:
    room, overlap = sizes
    assert all(0 < end - start <= room for start, end in window_ranges(tokens, room=room, overlap=overlap))


@given(tokens=st.integers(1, 5000), sizes=ROOMS)
def test_each_window_shares_at_least_the_overlap_with_the_one_before(tokens: int, sizes: tuple[int, int]) -> None:
    room, overlap = sizes
    ranges = window_ranges(tokens, room=room, overlap=overlap)
    assert all(earlier[1] - later[0] >= overlap for earlier, later in itertools.pairwise(ranges))


@given(tokens=st.integers(1, 5000), sizes=ROOMS)
def test_windows_are_of_equal_length_and_as_few_as_can_be(tokens: int, sizes: tuple[int, int]) -> None:
    room, overlap = sizes
    ranges = window_ranges(tokens, room=room, overlap=overlap)
    assert len({end - start for start, end in ranges}) == 1
    one_less = len(ranges) - 1
    assert one_less * room - (one_less - 1) * overlap < tokens or len(ranges) == 1


def test_a_text_one_token_over_the_limit_is_read_in_two_halves_and_not_in_a_whole_and_a_rest() -> None:
    # (101 + 20) / 2 = 60.5: two windows of 61, the second from 40 on.
    assert window_ranges(101, room=100, overlap=20) == [(0, 61), (40, 101)]


def test_no_token_makes_no_window() -> None:
    assert window_ranges(0, room=10, overlap=2) == []


def test_an_overlap_as_large_as_the_room_is_refused() -> None:
    with pytest.raises(ValueError, match="overlap"):
        window_ranges(5, room=4, overlap=4)


WORDS = (Span(1, 4), Span(5, 8), Span(9, 12), Span(13, 16), Span(17, 20))  # " aaa bbb ccc ddd eee  "
LENGTH = 22


def ids(first: int, last: int) -> tuple[int, ...]:
    return (-1, *range(first, last), -2)


def test_the_windows_of_a_long_text_cover_all_its_code_points_white_space_included() -> None:
    text = cut_into_windows(LENGTH, WORDS, pieces=ids, room=3, overlap=1, truncate=False)
    assert [window.span for window in text.windows] == [Span(0, 12), Span(9, 22)]
    assert [window.pieces for window in text.windows] == [(-1, 0, 1, 2, -2), (-1, 2, 3, 4, -2)]
    assert (text.tokens, text.truncated) == (5, False)


@pytest.mark.parametrize("truncate", [True, False])
def test_a_text_within_the_limit_is_one_whole_window_whatever_was_asked_for(truncate: bool) -> None:
    text = cut_into_windows(LENGTH, WORDS, pieces=ids, room=5, overlap=1, truncate=truncate)
    assert [window.span for window in text.windows] == [Span(0, LENGTH)]
    assert not text.truncated


def test_truncation_keeps_as_much_as_the_model_reads_at_once_counts_all_and_says_so() -> None:
    text = cut_into_windows(LENGTH, WORDS, pieces=ids, room=4, overlap=1, truncate=True)
    assert [(window.span, window.pieces) for window in text.windows] == [(Span(0, 16), (-1, 0, 1, 2, 3, -2))]
    assert (text.tokens, text.truncated) == (5, True)


def test_a_text_without_tokens_has_no_window() -> None:
    assert cut_into_windows(3, (), pieces=ids, room=4, overlap=1, truncate=False).windows == ()
