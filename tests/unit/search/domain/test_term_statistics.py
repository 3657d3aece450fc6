import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.search.domain.term_statistics import TermStatistics


def test_a_rare_token_tells_more_than_a_frequent_one() -> None:
    statistics = TermStatistics(chunks=10, tokens=40, frequencies={"rare": 1, "half": 5, "all": 10})

    assert statistics.idf("rare") == pytest.approx(math.log(1 + 9.5 / 1.5))
    assert statistics.idf("half") == pytest.approx(math.log(2))
    assert statistics.idf("all") == pytest.approx(math.log(1 + 0.5 / 10.5))
    assert statistics.idf("none") == pytest.approx(math.log(1 + 10.5 / 0.5))


def test_a_generation_without_chunks_has_an_idf_and_a_length_to_divide_by() -> None:
    empty = TermStatistics(chunks=0, tokens=0, frequencies={})

    assert empty.idf("a") == pytest.approx(math.log(2))
    assert empty.mean_length == 1.0


def test_the_mean_length_is_in_tokens() -> None:
    assert TermStatistics(chunks=4, tokens=10, frequencies={}).mean_length == 2.5


@given(st.integers(0, 10**7), st.integers(0, 10**7), st.integers(0, 10**7))
def test_idf_is_above_zero_and_falls_as_more_chunks_hold_a_token(chunks: int, one: int, other: int) -> None:
    fewer, more = sorted((one, other))
    statistics = TermStatistics(chunks, chunks, {"fewer": fewer, "more": more})

    assert 0 < statistics.idf("more") <= statistics.idf("fewer")
