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
# A guess tells scripts apart, and the character sets of one script badly: of Cyrillic, Greek or Japanese most bytes are
# not ASCII and 48 of them are enough; for French or Turkish with a few such letters it is wrong at any length.
_FEWEST_BYTES_TO_GUESS = 48
_LEAST_SHARE_TO_GUESS = 1 / 3
_LARGEST_SHARE_OF_DAMAGE = 0.001  # one stray byte in a page is a trace, one in a line is another character set
_NOT_UTF_8 = "it is not UTF-8 text; save it as UTF-8"

_BEYOND_ASCII = bytes(range(128, 256))
_LINE_ENDS = regex.compile(r"\r\n?|[\x0b\x85\u2028\u2029]")
_NO_TEXT = regex.compile(r"[\x00-\x08\x0e-\x1f\x7f-\x9f\ufeff]")
_LONE_SURROGATE = regex.compile(r"[\ud800-\udfff]")


def decode(data: bytes, charset: str = "") -> str:
    """The text in `data`. Raises InvalidInput when it is in no character set that is known or sure.

    A byte order mark decides; then UTF-8, if the bytes are that, for hardly anything else looks like it; then
    `charset`, what the source declares; then a guess, where it can be trusted. A trace of damaged bytes becomes
    U+FFFD, more is refused.
    """
    for mark, encoding in _BYTE_ORDER_MARKS:
        if data.startswith(mark):
            return _mended(data[len(mark) :], encoding)
    if _is_utf_8(data):
        return _mended(data, "utf-8")
    try:
        return data.decode(_as_browsers_read(charset))
    except (ValueError, LookupError):
        return _mended(data, _guessed(data))


def _is_utf_8(data: bytes) -> bool:
    """Whether `data` is UTF-8, damaged or not: in other character sets few pairs of bytes look like its characters."""
    text = data.decode("utf-8", errors="replace")
    damaged = _damage(text, data, "utf-8")
    beyond_ascii = sum(not character.isascii() for character in text) - damaged
    return damaged == 0 or beyond_ascii >= damaged


def _guessed(data: bytes) -> str:
    """The encoding that `data` seems to have. Raises InvalidInput where a guess would mean nothing."""
    if b"\0" in data:
        raise InvalidInput("the file is not text; what is read is text in UTF-8")
    beyond_ascii = len(data) - len(data.translate(None, _BEYOND_ASCII))
    if beyond_ascii < max(_FEWEST_BYTES_TO_GUESS, _LEAST_SHARE_TO_GUESS * len(data)):
        raise InvalidInput(_NOT_UTF_8)
    guess = charset_normalizer.from_bytes(data[:_SNIFF_REACH]).best()
    if guess is None:
        raise InvalidInput(_NOT_UTF_8)
    return guess.encoding


def _mended(data: bytes, encoding: str) -> str:
    """`data` in `encoding` with U+FFFD for a trace of damage. Raises InvalidInput for more than that."""
    text = data.decode(encoding, errors="replace")
    if _damage(text, data, encoding) > max(1, _LARGEST_SHARE_OF_DAMAGE * len(text)):
        raise InvalidInput(f"too much of it is damaged to be {encoding.upper()} text; save it as UTF-8")
    return text


def _damage(text: str, data: bytes, encoding: str) -> int:
    """How many U+FFFD in `text` are not in `data` itself."""
    found = text.count("\ufffd")
    return found and found - data.decode(encoding, errors="ignore").count("\ufffd")


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
