import codecs

import pytest

from services.ingest.adapters.parsers.decoding import clean, decode, decode_html
from services.shared.runtime.errors import InvalidInput

JAPANESE = "これは日本語の文章です。文字の種類を調べるために書きました。"


@pytest.mark.parametrize(
    ("data", "charset"),
    [
        (JAPANESE.encode(), ""),
        (JAPANESE.encode(), "iso-8859-1"),
        (codecs.BOM_UTF8 + JAPANESE.encode(), ""),
        (JAPANESE.encode("utf-16"), ""),
        (JAPANESE.encode("utf-32"), ""),
        (JAPANESE.encode("shift_jis"), "shift_jis"),
        (JAPANESE.encode("euc_jp"), "no-such-charset"),
    ],
)
def test_text_is_read_in_its_own_character_set(data: bytes, charset: str) -> None:
    assert decode(data, charset) == JAPANESE


def test_latin_1_means_what_browsers_make_of_it() -> None:
    assert decode("“naïve”".encode("cp1252"), "ISO-8859-1") == "“naïve”"


@pytest.mark.parametrize("data", [b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 4, b"\xff\x00\x01" * 100])
def test_what_is_not_text_is_refused(data: bytes) -> None:
    with pytest.raises(InvalidInput, match="not text"):
        decode(data)


def test_case_39_a_page_without_a_declared_charset_is_read_as_utf_8() -> None:
    assert JAPANESE in decode_html(f"<html><body>{JAPANESE}</body></html>".encode())


@pytest.mark.parametrize(
    "meta",
    ['<meta charset="Shift_JIS">', "<META http-equiv=Content-Type content='text/html; charset=shift_jis'>"],
)
def test_case_39_what_the_page_says_goes_before_what_its_server_says(meta: str) -> None:
    page = f"<html><head>{meta}</head><body>{JAPANESE}</body></html>"
    assert decode_html(page.encode("shift_jis"), "ISO-8859-1") == page


def test_the_charset_of_the_server_is_taken_where_the_page_says_nothing() -> None:
    assert decode_html(f"<p>{JAPANESE}</p>".encode("euc_jp"), "euc-jp") == f"<p>{JAPANESE}</p>"


def test_cleaning_leaves_one_kind_of_line_end_and_no_control_characters() -> None:
    assert clean("\ufeffa\r\nb\rc\u2028d\x00\x07e\ufeff\tf\fg\x85h\ud800") == "a\nb\nc\nde\tf\fg\nh\ufffd"
