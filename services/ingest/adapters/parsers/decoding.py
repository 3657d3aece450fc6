"""Which characters the bytes of a text stand for, and which of them are text."""

import codecs

import charset_normalizer
import regex

from services.shared.runtime.errors import InvalidInput

_BYTE_ORDER_MARKS = (  # the longer ones first: that of UTF-32 begins with that of UTF-16
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_META_CHARSET = regex.compile(rb"""<meta\b[^>]*?\bcharset\s*=\s*["']?\s*([\w.:-]+)""", regex.IGNORECASE)
_META_REACH = 4096  # bytes from the start in which a page may name its character set
_SNIFF_REACH = 65_536  # bytes; more makes guessing slow and no surer

_LINE_ENDS = regex.compile(r"\r\n?|[\x0b\x85\u2028\u2029]")
_NO_TEXT = regex.compile(r"[\x00-\x08\x0e-\x1f\x7f-\x9f\ufeff]")
_LONE_SURROGATE = regex.compile(r"[\ud800-\udfff]")


def decode(data: bytes, charset: str = "") -> str:
    """The text in `data`. Raises InvalidInput when it is in no character set that is known.

    A byte order mark decides; then UTF-8, if the bytes are that, for hardly anything else looks like it; then
    `charset`, what the source declares; then a guess.
    """
    for mark, encoding in _BYTE_ORDER_MARKS:
        if data.startswith(mark):
            return data[len(mark) :].decode(encoding, errors="replace")
    for encoding in ("utf-8", _as_browsers_read(charset)):
        try:
            return data.decode(encoding)
        except (ValueError, LookupError):
            continue
    guess = charset_normalizer.from_bytes(data[:_SNIFF_REACH]).best() if b"\0" not in data else None
    if guess is None:
        raise InvalidInput("the file is not text, or in a character set that is not known; save it as UTF-8")
    return data.decode(guess.encoding, errors="replace")


def decode_html(data: bytes, charset: str = "") -> str:
    """As `decode`; what the page says of itself goes before `charset`, what its server says."""
    declared = _META_CHARSET.search(data[:_META_REACH])
    return decode(data, declared.group(1).decode("ascii", errors="replace") if declared else charset)


def clean(text: str) -> str:
    """`text` with `\\n` as its only line end and without control characters and byte order marks; page breaks stay."""
    return str(_LONE_SURROGATE.sub("\ufffd", _NO_TEXT.sub("", _LINE_ENDS.sub("\n", text))))


def _as_browsers_read(charset: str) -> str:
    """Who declares Latin-1 or ASCII means what browsers make of it."""
    return "cp1252" if charset.lower() in ("iso-8859-1", "latin-1", "latin1", "ascii", "us-ascii") else charset
