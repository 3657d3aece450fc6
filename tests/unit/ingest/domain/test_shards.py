"""Parts of a large input."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.ingest.domain import shards
from services.ingest.domain.shards import portions, shard_of


def test_shard_of_a_key_never_changes() -> None:
    # The SHA-256 of "a" begins with these 8 bytes, and A is 2 above 8.
    assert shard_of("a", 2**64) == 0xCA978112CA1BBDCA
    assert shard_of("a", 8) == 2


@given(st.text(), st.integers(1, 10_000))
def test_shard_is_one_of_those_there_are(key: str, count: int) -> None:
    assert 0 <= shard_of(key, count) < count


def test_shards_are_of_about_one_size() -> None:
    sizes = Counter(shard_of(f"paper-{number}", 4) for number in range(10_000))
    assert sizes.total() == 10_000
    assert all(abs(size - 2_500) < 200 for size in sizes.values())  # four standard deviations are 173


def test_portion_ends_at_its_number_of_records(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shards, "PORTION_RECORDS", 2)
    lines = [(1, b"a"), (2, b"b"), (3, b"c")]
    assert list(portions(lines)) == [lines[:2], lines[2:]]


def test_portion_ends_before_its_size_is_exceeded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shards, "PORTION_BYTES", 4)
    lines = [(1, b"aa"), (2, b"bb"), (3, b"c"), (4, b"ddddd"), (5, b"e")]
    assert list(portions(lines)) == [lines[:2], lines[2:3], lines[3:4], lines[4:]]


def test_nothing_has_no_portion() -> None:
    assert list(portions([])) == []
