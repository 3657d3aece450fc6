import pytest

from services.ingest.adapters.parsers.markdown import parse_markdown, read_markdown
from services.ingest.domain.blocks import Block
from services.shared.runtime.errors import InvalidInput


def blocks(text: str) -> list[tuple[str, str, tuple[str, ...]]]:
    return [(block.kind, block.text, block.heading_path) for block in read_markdown(text).blocks]


def texts(text: str) -> list[tuple[str, str]]:
    return [(kind, content) for kind, content, _ in blocks(text)]


def test_headings_of_both_kinds_make_paths() -> None:
    assert blocks("# One #\na\n\nTwo\n---\nb\n\n### `Three` of *them*\nc\n\nFour\n====\nd") == [
        ("paragraph", "a", ("One",)),
        ("paragraph", "b", ("One", "Two")),
        ("paragraph", "c", ("One", "Two", "Three of them")),
        ("paragraph", "d", ("Four",)),
    ]


def test_case_16_a_byte_order_mark_hides_neither_front_matter_nor_heading() -> None:
    parsed = parse_markdown(b"\xef\xbb\xbf---\ntitle: A\nauthor: Bar\n---\n# First\ntext")
    assert parsed.title == "A"
    assert parsed.blocks == (Block("paragraph", "text", ("First",), (1,)),)


@pytest.mark.parametrize("end", ["---", "..."])
def test_front_matter_ends_in_dashes_or_dots_and_gives_the_title(end: str) -> None:
    parsed = read_markdown(f"---\r\ntitle: 2024\r\n{end}\r\n# B\r\ntext")
    assert (parsed.title, parsed.body) == ("2024", "text")


@pytest.mark.parametrize(
    "text",
    [
        "---\nACME LEGAL PLLC\n---\nbody",
        "---\n\nACME LEGAL PLLC\n\nbody",
        "---\ntitle: [ACME LEGAL PLLC\n---\nbody",
        "---\n- ACME LEGAL PLLC\n---\nbody",
    ],
)
def test_case_17_what_is_not_a_mapping_is_text(text: str) -> None:
    parsed = read_markdown(text)
    seen = " ".join(part for block in parsed.blocks for part in (*block.heading_path, block.text))
    assert "ACME LEGAL PLLC" in seen and "body" in seen
    assert parsed.title == ""


def test_case_23_headings_that_are_links_or_hold_a_hash() -> None:
    assert blocks("## Intro\ntext a\n\n### [Some Title](https://e.x)\ntext b\n\n## The #1 thing\ntext c") == [
        ("paragraph", "text a", ("Intro",)),
        ("paragraph", "text b", ("Intro", "Some Title")),
        ("paragraph", "text c", ("The #1 thing",)),
    ]


def test_case_35_a_comment_in_code_is_no_heading_and_closing_hashes_are_none_of_it() -> None:
    assert blocks("prose\n\n```python\n# comment\nx = 1\n```\n\n# Title ##\na\n\n# C#\nb") == [
        ("paragraph", "prose", ()),
        ("code", "# comment\nx = 1", ()),
        ("paragraph", "a", ("Title",)),
        ("paragraph", "b", ("C#",)),
    ]


@pytest.mark.parametrize("address", ["{#my-id}", "{ #my-id .class }", "{/*my-id*/}", "<!-- omit in toc -->"])
def test_the_address_of_a_heading_is_no_part_of_it(address: str) -> None:
    assert blocks(f"# My title {address}\na") == [("paragraph", "a", ("My title",))]


def test_inline_marks_go_and_words_stay() -> None:
    assert texts(
        "*Em*phasis, **bold**, `code`, [link](/x), ![alt](y), <kbd>K</kbd>, &amp;, a  \nb\nc <https://e.x>"
    ) == [("paragraph", "Emphasis, bold, code, link, alt, K, &, a\nb c https://e.x")]


def test_lists_are_nested_numbered_and_interrupted_by_code() -> None:
    assert texts("- a\n  more\n\n  second\n  - b\n    1. c\n-\n- # d\n\n  ```\n  x\n  ```\n- e\n\n2) f\n3) g") == [
        ("list", "- a more\n  second\n  - b\n    1. c\n- d"),
        ("code", "x"),
        ("list", "- e"),
        ("list", "2. f\n3. g"),
    ]


def test_quotes_may_hold_other_blocks_and_their_headings_are_text() -> None:
    assert blocks("# A\n> # Not one\n> said\n>\n> - item\n\nafter") == [
        ("quote", "Not one", ("A",)),
        ("quote", "said", ("A",)),
        ("list", "- item", ("A",)),
        ("paragraph", "after", ("A",)),
    ]


def test_a_table_is_written_out_with_its_header() -> None:
    (table,) = read_markdown("| *Name* | B |\n|:--|--:|\n| [a](x) | 1 \\| 2 |\n| b |").blocks
    assert table.table_header == "| Name | B |\n| --- | --- |"
    assert table.text == table.table_header + "\n| a | 1 \\| 2 |\n| b |  |"


def test_case_19_a_second_header_row_is_part_of_the_header() -> None:
    rows = "\n".join(f"| r{number} | {number} |" for number in range(20))
    (table,) = read_markdown(f"| Category | Q1 |\n| | Jan-Mar |\n|---|---|\n{rows}").blocks
    assert table.table_header == "| Category | Q1 |\n|  | Jan-Mar |\n| --- | --- |"
    assert table.text.count("---") == 2


def test_case_20_a_line_directly_above_a_table_is_its_caption() -> None:
    assert texts("Table 1: sales\n| a |\n|---|\n| 1 |") == [
        ("caption", "Table 1: sales"),
        ("table", "| a |\n| --- |\n| 1 |"),
    ]


def test_case_22_a_table_in_html_is_there_once() -> None:
    assert texts("before\n\n<table><tr><td>zebra</td><td>b</td></tr></table>\n\nafter") == [
        ("paragraph", "before"),
        ("table", "| zebra | b |"),
        ("paragraph", "after"),
    ]


def test_html_and_components_around_markdown_are_transparent() -> None:
    assert texts(
        "<Intro>\n\nHello *you*.\n\n</Intro>\n\n<!-- hidden -->\n\n"
        "<details>\n<summary>More</summary>\n\nDeep.\n\n</details>"
    ) == [
        ("paragraph", "Hello you."),
        ("paragraph", "More"),
        ("paragraph", "Deep."),
    ]


def test_containers_show_their_title_and_content() -> None:
    assert blocks("::: info Custom Title\nText.\n\n## Inside\nMore.\n:::\n\n/// tip | Advice\n\nDo it.\n\n///") == [
        ("paragraph", "Custom Title", ()),
        ("paragraph", "Text.", ()),
        ("paragraph", "More.", ("Inside",)),
        ("paragraph", "Advice", ("Inside",)),
        ("paragraph", "Do it.", ("Inside",)),
    ]


def test_a_footnote_stays_where_it_is_written_cited_or_not() -> None:
    assert texts("Text[^1].\n\n[^1]: A note.\n\n[^2]: Cited nowhere.\n\nAfter.") == [
        ("paragraph", "Text."),
        ("paragraph", "A note."),
        ("paragraph", "Cited nowhere."),
        ("paragraph", "After."),
    ]


def test_the_title_is_the_first_heading_of_level_1_where_there_is_no_front_matter() -> None:
    assert read_markdown("## Small\n\n# Big *one*\n\n# Other").title == "Big one"
    assert read_markdown("text").title == ""


def test_nothing_is_lost_in_deep_lists() -> None:
    text = "\n".join("  " * depth + f"- level{depth}" for depth in range(40))
    assert "level39" in read_markdown(text).body


@pytest.mark.parametrize("text", ["> " * 5000 + "x", "- " * 5000 + "x", "Good words.\n\n" + "> " * 99 + "lost"])
def test_what_is_nested_too_deeply_is_said_and_not_left_out(text: str) -> None:
    with pytest.raises(InvalidInput, match="nested too deeply"):
        read_markdown(text)


def test_what_is_nested_less_deeply_is_read() -> None:
    assert read_markdown("> " * 98 + "x").body == "x"
