import pytest

from services.ingest.domain.blocks import Block, ParsedDocument


def test_the_body_is_the_blocks_with_a_blank_line_between() -> None:
    document = ParsedDocument("", (Block("paragraph", "One."), Block("list", "- a\n- b"), Block("paragraph", "Two.")))
    assert document.body == "One.\n\n- a\n- b\n\nTwo."
    assert [document.body[start:][:3] for start in document.block_starts] == ["One", "- a", "Two"]


def test_a_document_without_blocks_has_an_empty_body() -> None:
    empty = ParsedDocument("Title", ())
    assert (empty.body, empty.block_starts) == ("", [])


@pytest.mark.parametrize("text", ["", " \n", "\u3000"])
def test_a_blank_block_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="needs text"):
        Block("paragraph", text)
