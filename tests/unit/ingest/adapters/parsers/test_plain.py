from services.ingest.adapters.parsers.plain import parse_plain, read_plain
from services.ingest.domain.blocks import Block


def test_blank_lines_part_paragraphs() -> None:
    parsed = read_plain("\n One\nline. \n \t\n\n Two.\r\n\r\nThree.\n")
    assert parsed.title == ""
    assert [block.text for block in parsed.blocks] == ["One\nline.", "Two.", "Three."]


def test_case_25_a_form_feed_begins_a_page() -> None:
    assert read_plain("One.\n\nTwo.\fThree.").blocks == (
        Block("paragraph", "One.", page=1),
        Block("paragraph", "Two.", page=1),
        Block("paragraph", "Three.", page=2),
    )


def test_a_text_without_form_feeds_has_no_pages() -> None:
    assert read_plain("One.").blocks == (Block("paragraph", "One."),)


def test_a_file_is_decoded_and_a_byte_order_mark_is_no_text() -> None:
    assert parse_plain("Größe".encode("utf-8-sig")).blocks[0].text == "Größe"
