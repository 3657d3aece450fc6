"""Texts that nobody can read have no vector."""

import pytest

from services.embedding.domain.texts import is_blank


@pytest.mark.parametrize(
    "text", ["", " ", "\n\n", "   ", "\x00", "\u00a0\u3000", "\u200b\u200d\ufeff", "\u2028", "\u202e"]
)
def test_white_space_and_control_characters_alone_are_blank(text: str) -> None:
    assert is_blank(text)


@pytest.mark.parametrize("text", ["a", "  a", "\x00a", "?", "😀", "\u0301", "مرحبا", "明", "\ue000"])
def test_one_character_that_can_be_read_is_enough(text: str) -> None:
    assert not is_blank(text)
