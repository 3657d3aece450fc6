"""Reading a file of records wherever it lies."""

import gzip
from pathlib import Path

import pytest

from services.ingest.adapters.record_file import RecordFile
from services.shared.runtime.errors import InvalidInput


def lines(path: Path, content: bytes, *, max_bytes: int = 100) -> list[tuple[int, bytes]]:
    path.write_bytes(content)
    return list(RecordFile(str(path), max_bytes=max_bytes).lines())


def test_lines_come_with_their_numbers_and_blank_ones_are_counted_only(tmp_path: Path) -> None:
    assert lines(tmp_path / "r.jsonl", b'{"a": 1}\r\n\n  \n{"b": 2}') == [(1, b'{"a": 1}'), (4, b'{"b": 2}')]


def test_byte_order_mark_is_no_part_of_the_first_line(tmp_path: Path) -> None:
    assert lines(tmp_path / "r.jsonl", b"\xef\xbb\xbf{}\n\xef\xbb\xbf{}\n") == [(1, b"{}"), (2, b"\xef\xbb\xbf{}")]


def test_compressed_file_is_read_by_its_ending(tmp_path: Path) -> None:
    assert lines(tmp_path / "r.jsonl.gz", gzip.compress(b"{}\n[]\n")) == [(1, b"{}"), (2, b"[]")]


@pytest.mark.parametrize("length", [11, 15, 20, 21, 25])
def test_line_that_is_too_long_is_no_record_and_the_next_one_is_whole(tmp_path: Path, length: int) -> None:
    content = b"x" * length + b"\n" + b"y" * 10 + b"\n"
    assert lines(tmp_path / "r.jsonl", content, max_bytes=10) == [(1, b"the line is too long"), (2, b"y" * 10)]


def test_last_line_without_an_end_may_be_too_long_as_well(tmp_path: Path) -> None:
    assert lines(tmp_path / "r.jsonl", b"x" * 25, max_bytes=10) == [(1, b"the line is too long")]


@pytest.mark.parametrize("address", ["/nowhere/r.jsonl", "no-such-scheme://bucket/r.jsonl"])
def test_file_that_cannot_be_opened_is_refused_with_a_sentence(address: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        list(RecordFile(address, max_bytes=10).lines())
    assert refused.value.field == "input"


def test_file_is_read_no_further_than_asked(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    path.write_bytes(b"{}\n")
    reading = RecordFile(str(path), max_bytes=10).lines()
    assert next(reading) == (1, b"{}")
    with path.open("ab") as more:
        more.write(b"[]\n")
    assert next(reading) == (2, b"[]")
