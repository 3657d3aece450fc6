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


LONG = "A line of plain English text that says nothing of note.\n" * 100
RUSSIAN = "Множество содержит элементы, а функция отображает одно множество в другое."
FRENCH = "Le café était fermé à cause de la grève générale, et les élèves étaient là. "
NOT_UTF_8 = "it is not UTF-8 text"


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"It\xe2\x80\x99s short, and has one stray byte: \xe9.", "It\u2019s short, and has one stray byte: \ufffd."),
        ("Party \U0001f389 now".encode() + b"\xf0\x9f\x8e", "Party \U0001f389 now\ufffd"),
        (JAPANESE.encode()[:-1], JAPANESE[:-1] + "\ufffd"),  # cut off within its last character
        ((RUSSIAN * 50).encode() + b"\xff\xff", RUSSIAN * 50 + "\ufffd\ufffd"),
        ("\ufffd was here before, \u00e9".encode() + b"\xc3", "\ufffd was here before, \u00e9\ufffd"),
        (codecs.BOM_UTF8 + JAPANESE.encode() + b"\xff", JAPANESE + "\ufffd"),
    ],
)
def test_utf_8_with_a_trace_of_damage_stays_utf_8(data: bytes, text: str) -> None:
    assert decode(data) == text
    assert decode(data, "iso-8859-1") == text


@pytest.mark.parametrize(
    "data",
    [
        "\u00e9\u00e9\u00e9\u00e9".encode() + b" \xff \xff",
        (RUSSIAN.encode() + b"\xff") * 50,
        codecs.BOM_UTF8 + JAPANESE.encode() + b"\xff" * 20,
        codecs.BOM_UTF16_LE + b"\x00\xd8" * 40,
    ],
)
def test_more_than_a_trace_of_damage_is_refused(data: bytes) -> None:
    with pytest.raises(InvalidInput, match="too much of it is damaged"):
        decode(data)


@pytest.mark.parametrize(
    "data",
    [
        b"# T\n\n\xc3\x28 \xe2\x82",
        LONG.encode() + b"\x92",
        FRENCH.encode("cp1252"),
        (FRENCH * 60).encode("cp1252"),  # no guess tells this from cp1250, at any length
        RUSSIAN[:20].encode("cp1251"),
    ],
)
def test_what_a_guess_would_turn_into_other_letters_is_refused(data: bytes) -> None:
    with pytest.raises(InvalidInput, match=NOT_UTF_8):
        decode(data)


@pytest.mark.parametrize(
    ("text", "encoding"),
    [(RUSSIAN, "cp1251"), (JAPANESE * 2, "shift_jis"), (JAPANESE, "euc_jp")],
)
def test_a_script_that_hardly_uses_ascii_is_told_by_its_bytes(text: str, encoding: str) -> None:
    assert decode(text.encode(encoding)) == text


def test_declared_latin_1_is_read_where_a_guess_is_not() -> None:
    assert decode(FRENCH.encode("cp1252"), "windows-1252") == FRENCH
