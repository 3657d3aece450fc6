"""The query cache: exact texts, bounded bytes, the one used longest ago goes first."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from services.embedding.domain.embedding import EmbeddedText
from services.embedding.domain.windows import Span
from services.embedding.query_cache import QueryCache

ROOM_FOR_TWO = 2 * (1024 + 4 * 1 + 384 * 4)


def entry() -> EmbeddedText:
    return EmbeddedText(1, (Span(0, 1),), np.zeros((1, 384), dtype=np.float32), False)


def key(text: str, *, weights: str = "sha", truncate: bool = False) -> tuple[str, bool, str]:
    return (weights, truncate, text)


def test_a_text_is_found_again_by_exactly_the_same_text_weights_and_truncation() -> None:
    cache, kept = QueryCache(10**6), entry()
    cache.put(key("a"), kept)
    assert cache.get(key("a")) is kept
    assert cache.get(key("A")) is None
    assert cache.get(key("a", weights="other")) is None
    assert cache.get(key("a", truncate=True)) is None


def test_the_entry_used_longest_ago_makes_room() -> None:
    cache = QueryCache(ROOM_FOR_TWO)
    cache.put(key("a"), entry())
    cache.put(key("b"), entry())
    cache.get(key("a"))
    cache.put(key("c"), entry())
    assert [cache.get(key(text)) is not None for text in "abc"] == [True, False, True]


def test_no_room_keeps_nothing() -> None:
    cache = QueryCache(0)
    cache.put(key("a"), entry())
    assert (cache.get(key("a")), cache.bytes) == (None, 0)


@given(st.lists(st.text(max_size=50)), st.integers(0, 20_000))
def test_the_bound_holds_after_every_entry(texts: list[str], max_bytes: int) -> None:
    cache = QueryCache(max_bytes)
    for text in texts:
        cache.put(key(text), entry())
        assert 0 <= cache.bytes <= max_bytes
