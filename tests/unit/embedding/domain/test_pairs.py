"""A query with every window of a passage, and the best window's score."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from services.embedding.domain.pairs import PairPieces, best_of_windows, pair_windows


def ranges(query_tokens: int, passage_tokens: int, room: int = 20) -> list[tuple[int, ...]]:
    windows = pair_windows(
        query_tokens, passage_tokens, room=room, overlap=4, pieces=lambda first, last: PairPieces((first, last), ())
    )
    return [window.ids for window in windows]


def test_a_pair_that_fits_is_one_window() -> None:
    assert ranges(5, 15) == [(0, 15)]


def test_a_longer_passage_is_read_in_overlapping_windows_beside_the_query() -> None:
    # Beside 5 tokens of query there is room for 15, of which a quarter, 3, may be shared: two windows of 14 share 4.
    assert ranges(5, 24) == [(0, 14), (10, 24)]


def test_a_query_that_takes_more_than_half_has_no_window_nor_has_a_passage_without_tokens() -> None:
    assert ranges(10, 5) == [(0, 5)]
    assert ranges(11, 5) == ranges(5, 0) == []


@given(query=st.integers(0, 10), passage=st.integers(1, 200))
def test_every_token_of_the_passage_is_read_and_no_window_is_over_the_room(query: int, passage: int) -> None:
    windows = ranges(query, passage)
    assert {token for first, last in windows for token in range(first, last)} == set(range(passage))
    assert max(last - first for first, last in windows) + query <= 20


def test_the_score_of_a_pair_is_that_of_its_best_window() -> None:
    scores = np.array([1.0, 3.0, 2.0, -1.0], dtype=np.float32)
    assert best_of_windows(scores, [3, 1]) == [3.0, -1.0]
