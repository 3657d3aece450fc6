"""Plain text: blank lines part paragraphs, form feeds part pages."""

import regex

from services.ingest.adapters.parsers.decoding import clean, decode
from services.ingest.adapters.parsers.outline import Outline
from services.ingest.domain.blocks import ParsedDocument

_BLANK_LINES = regex.compile(r"\n[^\S\n]*+\n\s*+")


def parse_plain(data: bytes, charset: str = "") -> ParsedDocument:
    """The paragraphs of a text file. Raises InvalidInput when it is not text."""
    return read_plain(decode(data, charset))


def read_plain(text: str) -> ParsedDocument:
    """The paragraphs of `text`, with page numbers when it has page breaks."""
    outline = Outline()
    pages = clean(text).split("\f")
    for number, page in enumerate(pages, start=1):
        for paragraph in _BLANK_LINES.split(page):
            outline.block("paragraph", paragraph, page=number if len(pages) > 1 else None)
    return ParsedDocument(title="", blocks=outline.finished())
