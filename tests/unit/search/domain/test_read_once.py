"""What is read, and how often."""

import pytest

from services.search.domain.read_once import ReadOnce


def test_a_value_is_read_when_it_is_asked_for_and_once() -> None:
    read: list[str] = []

    def shout(key: str) -> str:
        read.append(key)
        return key.upper()

    values = ReadOnce(["b", "a", "b"], shout)
    assert list(values) == ["b", "a"] and len(values) == 2 and "a" in values
    assert read == []
    assert [values["a"], values["a"]] == ["A", "A"]
    assert read == ["a"]


def test_a_key_that_was_not_given_is_not_there() -> None:
    values = ReadOnce(["a"], str.upper)
    assert "b" not in values and values.get("b") is None
    with pytest.raises(KeyError):
        values["b"]
