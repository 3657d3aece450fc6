"""Which format a file has."""

import pytest

from services.ingest.domain.file_formats import FileFormat, file_format


@pytest.mark.parametrize(
    ("name", "media_type", "expected"),
    [
        ("a.md", "", FileFormat.MARKDOWN),
        ("A.MDX", "application/octet-stream", FileFormat.MARKDOWN),
        ("notes.txt", "text/html", FileFormat.TEXT),  # the name says more than a browser's guess
        ("page", "text/html; charset=utf-8", FileFormat.HTML),
        ("papers.jsonl", "", FileFormat.JSON_LINES),
        ("v1.2/readme.markdown", "", FileFormat.MARKDOWN),
    ],
)
def test_name_then_media_type_tell_the_format(name: str, media_type: str, expected: FileFormat) -> None:
    assert file_format(name, media_type) is expected


@pytest.mark.parametrize(("name", "media_type"), [("a.exe", ""), ("a", ""), ("a", "image/png"), ("", "")])
def test_a_format_that_is_not_read_has_none(name: str, media_type: str) -> None:
    assert file_format(name, media_type) is None
