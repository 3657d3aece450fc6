from services.ingest.adapters.parsers.outline import Outline
from services.ingest.domain.blocks import Block


def test_a_block_stands_under_the_headings_above_it() -> None:
    outline = Outline()
    outline.block("paragraph", "Before.")
    outline.heading(1, " A \n title ")
    outline.heading(3, "B")
    outline.block("paragraph", "Deep.")
    outline.heading(2, "C")
    outline.block("code", "\n  x = 1\n", page=2)
    outline.heading(1, "D")
    outline.block("quote", " Said. ")
    assert outline.finished() == (
        Block("paragraph", "Before."),
        Block("paragraph", "Deep.", ("A title", "B"), (1, 2)),
        Block("code", "  x = 1", ("A title", "C"), (1, 3), page=2),
        Block("quote", "Said.", ("D",), (4,)),
    )


def test_sections_of_the_same_name_are_told_apart() -> None:
    outline = Outline()
    for text in ("of a river", "for money"):
        outline.heading(2, "bank")
        outline.block("paragraph", text)
    assert [(block.heading_path, block.heading_places) for block in outline.finished()] == [
        (("bank",), (1,)),
        (("bank",), (2,)),
    ]


def test_a_heading_with_nothing_below_it_is_text_and_a_container_is_not() -> None:
    outline = Outline()
    outline.heading(1, "Book")
    outline.heading(2, "Empty")
    outline.heading(2, "Full")
    outline.block("paragraph", "Text.")
    outline.heading(2, "Last")
    assert [(block.text, block.heading_path) for block in outline.finished()] == [
        ("Empty", ("Book", "Empty")),
        ("Text.", ("Book", "Full")),
        ("Last", ("Book", "Last")),
    ]


def test_a_blank_heading_ends_the_sections_of_its_level() -> None:
    outline = Outline()
    outline.heading(1, "A")
    outline.heading(2, "B")
    outline.block("paragraph", "b")
    outline.heading(2, "  ")
    outline.block("paragraph", "a")
    assert [block.heading_path for block in outline.finished()] == [("A", "B"), ("A",)]


def test_items_make_one_list_until_it_ends_or_another_block_begins() -> None:
    outline = Outline()
    outline.item(0, "-", "one\nline")
    outline.item(0, "", "more of one")
    outline.item(1, "1.", "inner")
    outline.item(0, "-", "  ")
    outline.end_list()
    outline.item(0, "-", "another list")
    outline.block("paragraph", "\n")
    assert [block.text for block in outline.finished()] == ["- one line\n  more of one\n  1. inner", "- another list"]


def test_a_heading_that_is_longer_than_any_is_a_paragraph() -> None:
    outline = Outline()
    outline.heading(1, "Title")
    outline.heading(2, "h" * 512)
    outline.heading(2, "x" * 513)
    outline.block("paragraph", "Below.")
    path = ("Title", "h" * 512)
    assert [(block.text, block.heading_path) for block in outline.finished()] == [("x" * 513, path), ("Below.", path)]
