from services.ingest.adapters.parsers.tables import table_text


def test_a_table_is_written_as_markdown_writes_it() -> None:
    text, header = table_text([["Name", "Level"], ["TOIL", "B2"]], header_rows=1)
    assert header == "| Name | Level |\n| --- | --- |"
    assert text == header + "\n| TOIL | B2 |"


def test_all_header_rows_stand_above_the_line() -> None:
    text, header = table_text([["Category", "Q1"], ["", "Jan-Mar"], ["a", "1"]], header_rows=2)
    assert header == "| Category | Q1 |\n|  | Jan-Mar |\n| --- | --- |"
    assert text.removeprefix(header) == "\n| a | 1 |"


def test_a_table_without_header_rows_has_no_header() -> None:
    assert table_text([["a", "b"]], header_rows=0) == ("| a | b |", "")


def test_cells_are_one_line_and_rows_are_filled_up() -> None:
    assert table_text([["a\n b", "x | y"], ["c"]], header_rows=0)[0] == "| a b | x \\| y |\n| c |  |"


def test_a_table_without_text_is_nothing() -> None:
    assert table_text([["", " "]], header_rows=1) == ("", "")
    assert table_text([], header_rows=0) == ("", "")
