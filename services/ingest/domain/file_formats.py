"""Which format a file has, told from its name and, where that says nothing, from its media type."""

from enum import StrEnum
from pathlib import PurePosixPath


class FileFormat(StrEnum):
    """The formats that are read; the value is the media type under which an original is kept."""

    TEXT = "text/plain"
    MARKDOWN = "text/markdown"
    HTML = "text/html"
    JSON_LINES = "application/x-ndjson"


FORMATS_BY_ENDING = {
    ".txt": FileFormat.TEXT,
    ".text": FileFormat.TEXT,
    ".md": FileFormat.MARKDOWN,
    ".markdown": FileFormat.MARKDOWN,
    ".mdx": FileFormat.MARKDOWN,
    ".html": FileFormat.HTML,
    ".htm": FileFormat.HTML,
    ".xhtml": FileFormat.HTML,
    ".jsonl": FileFormat.JSON_LINES,
    ".ndjson": FileFormat.JSON_LINES,
}
_BY_MEDIA_TYPE = {
    **{format_.value: format_ for format_ in FileFormat},
    "text/x-markdown": FileFormat.MARKDOWN,
    "application/xhtml+xml": FileFormat.HTML,
    "application/jsonl": FileFormat.JSON_LINES,
    "application/jsonlines": FileFormat.JSON_LINES,
}


def file_format(name: str, media_type: str) -> FileFormat | None:
    """The format of a file; None for one that is not read."""
    by_name = FORMATS_BY_ENDING.get(PurePosixPath(name).suffix.lower())
    return by_name or _BY_MEDIA_TYPE.get(media_type.partition(";")[0].strip().lower())
