"""Which parser reads which original."""

from collections.abc import Callable, Mapping
from email.message import Message

from services.ingest.adapters.parsers.html import parse_html_file
from services.ingest.adapters.parsers.markdown import parse_markdown
from services.ingest.adapters.parsers.plain import parse_plain
from services.ingest.adapters.parsers.record import parse_record
from services.ingest.domain.blocks import ParsedDocument
from services.shared.runtime.errors import InvalidInput

_PARSERS: Mapping[str, Callable[[bytes, str], ParsedDocument]] = {
    "text/plain": parse_plain,
    "text/markdown": parse_markdown,
    "text/html": parse_html_file,
    "application/x-ndjson": parse_record,
}


def parse(original: bytes, media_type: str) -> ParsedDocument:
    """The document in `original`; `media_type` may name its character set: `text/html; charset=shift_jis`.

    Raises InvalidInput, with a sentence for the user, when it cannot be read or holds no text. Takes seconds for
    megabytes and never waits: call it in a thread.
    """
    header = Message()
    header["content-type"] = media_type
    parser = _PARSERS.get(header.get_content_type())
    if parser is None:
        raise InvalidInput(f"nothing reads '{media_type}'; what is read is {', '.join(_PARSERS)}")
    document = parser(original, str(header.get_param("charset", "")))
    if not document.blocks:
        raise InvalidInput("it holds no text; what a script draws on a page or shows as a picture cannot be read")
    return document
