"""One record of a JSON Lines file, a line by itself: a paper, an entry, a page."""

from services.ingest.adapters.parsers.html import read_html
from services.ingest.adapters.parsers.markdown import read_markdown
from services.ingest.adapters.parsers.plain import read_plain
from services.ingest.domain.blocks import ParsedDocument
from services.ingest.domain.records import UnreadableRecord, read_record
from services.shared.runtime.errors import InvalidInput


def parse_record(data: bytes, charset: str = "") -> ParsedDocument:
    """The blocks of a record's content, under its title. JSON is UTF-8, whatever `charset` says.

    Raises InvalidInput when the line is not a record.
    """
    try:
        record = read_record(data)
    except UnreadableRecord as error:
        raise InvalidInput(str(error)) from None
    if record.markdown.strip():
        parsed = read_markdown(record.markdown)
    elif record.html.strip():
        parsed = read_html(record.html)
    else:
        parsed = read_plain(record.text)
    return ParsedDocument(title=record.title.strip() or parsed.title, blocks=parsed.blocks)
