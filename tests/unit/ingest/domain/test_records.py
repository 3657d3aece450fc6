"""Records: one JSON object a line."""

import json

import pytest

from services.ingest.domain.records import Record, UnreadableRecord, read_record, record_lines


def line(**values: object) -> bytes:
    return json.dumps(values).encode()


def test_a_paper_as_data_sets_write_it_is_a_record() -> None:
    paper = line(
        _id="2401.1", title="On sets", abstract="We show.", year=2024, department="maths", url="https://x.org/1"
    )
    assert read_record(paper) == Record(
        id="2401.1",
        title="On sets",
        uri="https://x.org/1",
        text="We show.",
        other={"year": 2024, "department": "maths"},
    )


def test_a_whole_number_may_be_an_id() -> None:
    assert read_record(line(id=17, text="x")).id == "17"


@pytest.mark.parametrize("bad", [b"{", b"[1]", b"3", b'"x"', b"\xff{}"])
def test_what_is_no_object_is_refused(bad: bytes) -> None:
    with pytest.raises(UnreadableRecord, match="not a JSON object"):
        read_record(bad)


@pytest.mark.parametrize("contents", [{}, {"text": "  "}, {"text": "a", "html": "<p>a</p>"}])
def test_exactly_one_content_is_needed(contents: dict[str, str]) -> None:
    with pytest.raises(UnreadableRecord, match="one of text"):
        read_record(line(id="a", **contents))


def test_a_part_of_the_wrong_type_is_named() -> None:
    with pytest.raises(UnreadableRecord, match="'title' is a string"):
        read_record(line(id="a", text="x", title=3))


def test_lines_are_numbered_as_an_editor_does_and_blank_ones_skipped() -> None:
    content = "\ufeff{}\n\n  {} \r\n".encode()
    assert list(record_lines(content)) == [(1, b"{}"), (3, b"{}")]
