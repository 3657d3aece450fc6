"""Which format a file has, told from its name and, where that says nothing, from its media type."""

from enum import StrEnum
from pathlib import PurePosixPath

from services.shared.runtime.errors import InvalidInput


class FileFormat(StrEnum):
    """The formats that are read; the value is the media type under which an original is kept."""

    TEXT = "text/plain"
    MARKDOWN = "text/markdown"
    HTML = "text/html"
    JSON_LINES = "application/x-ndjson"


_BY_ENDING = {
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


def file_format(name: str, media_type: str) -> FileFormat:
    """The format of a file. Raises InvalidInput, field `file`, for one that is not read."""
    by_name = _BY_ENDING.get(PurePosixPath(name).suffix.lower())
    found = by_name or _BY_MEDIA_TYPE.get(media_type.partition(";")[0].strip().lower())
    if found is None:
        raise InvalidInput(f"'{name}' has a format that is not read; formats are {', '.join(_BY_ENDING)}", field="file")
    return found
