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


@pytest.mark.parametrize(
    "value",
    [
        b"[" * 100_000,
        b"1" * 5_000,
        b"NaN",
        b"-Infinity",
        b"1e999",
        b'"\xff"',
        b'"\xed\xa0\x80"',  # a surrogate in bytes is not UTF-8
    ],
)
def test_a_value_that_no_reader_of_json_takes_makes_the_line_unreadable(value: bytes) -> None:
    with pytest.raises(UnreadableRecord, match="not a JSON object"):
        read_record(b'{"id": "a", "text": "x", "other": ' + value + b"}")


def test_a_line_in_utf_16_is_refused() -> None:
    with pytest.raises(UnreadableRecord, match="not a JSON object"):
        read_record('{"id": "a", "text": "x"}'.encode("utf-16"))


def test_metadata_in_an_object_of_its_own_is_kept_apart() -> None:
    record = read_record(line(id="a", text="x", metadata={"year": 2024}, draft=True))
    assert (record.metadata, record.other) == ({"year": 2024}, {"draft": True})
    assert read_record(line(id="a", text="x", metadata=None)).metadata == {}


@pytest.mark.parametrize("metadata", ["year", 3, [{"year": 1}], False])
def test_metadata_that_is_no_object_is_refused(metadata: object) -> None:
    with pytest.raises(UnreadableRecord, match="'metadata' is an object"):
        read_record(line(id="a", text="x", metadata=metadata))


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
