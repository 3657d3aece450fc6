"""Records: documents that come many to a file, one JSON object a line."""

import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

# Names that data sets use for one thing.
_SYNONYMS = {"id": ("id", "_id"), "uri": ("uri", "url"), "text": ("text", "abstract")}


class UnreadableRecord(ValueError):
    """A line that is no record; the message is a sentence for the user."""


@dataclass(frozen=True, slots=True)
class Record:
    """One line. `metadata` has what it gives for declared fields; `other` holds every key that is not part of a
    document: values of declared fields as well, or nothing to us.

    Exactly one of `text`, `markdown` and `html` is not empty.
    """

    id: str
    title: str = ""
    uri: str = ""
    locale: str = ""
    date: str = ""
    text: str = ""
    markdown: str = ""
    html: str = ""
    metadata: Mapping[str, object] = field(default_factory=dict)
    other: Mapping[str, object] = field(default_factory=dict)


def record_lines(content: bytes) -> Iterator[tuple[int, bytes]]:
    """The lines that are not blank with their numbers, from 1; a byte order mark is no part of the first."""
    for number, line in enumerate(content.removeprefix(b"\xef\xbb\xbf").splitlines(), start=1):
        if stripped := line.strip():
            yield number, stripped


def read_record(line: bytes) -> Record:
    """The record in one line. Raises UnreadableRecord."""
    try:
        values = json.loads(line.decode(), parse_float=_finite, parse_constant=_finite)
    except (ValueError, RecursionError):  # not UTF-8, not JSON, a number that is none or too long, nested too deeply
        raise UnreadableRecord("the line is not a JSON object in UTF-8") from None
    if not isinstance(values, dict):
        raise UnreadableRecord("the line is not a JSON object")
    metadata = values.pop("metadata", None)
    if not isinstance(metadata, dict | None):
        raise UnreadableRecord("'metadata' is an object with the values of declared fields")
    parts = {name: _text(values, name) for name in ("id", "title", "uri", "locale", "date", "text", "markdown", "html")}
    known = {key for name in parts for key in _SYNONYMS.get(name, (name,))}
    contents = [name for name in ("text", "markdown", "html") if parts[name].strip()]
    if len(contents) != 1:
        found = " and ".join(contents) or "none"
        raise UnreadableRecord(f"a record needs one of text (or abstract), markdown and html, not {found}")
    other = {key: value for key, value in values.items() if key not in known}
    return Record(**parts, metadata=metadata or {}, other=other)


def _finite(literal: str) -> float:
    """JSON has neither NaN nor Infinity, nor numbers that are as large as one."""
    number = float(literal)
    if not math.isfinite(number):
        raise ValueError("a number of JSON is finite")
    return number


def _text(values: Mapping[str, object], name: str) -> str:
    for key in _SYNONYMS.get(name, (name,)):
        value = values.get(key)
        if value is None:
            continue
        if name == "id" and isinstance(value, int) and not isinstance(value, bool):
            return str(value)
        if not isinstance(value, str):
            raise UnreadableRecord(f"'{key}' is a string")
        return value
    return ""
