import pytest

from services.ingest.adapters.parsers.by_media_type import parse
from services.shared.runtime.errors import InvalidInput


@pytest.mark.parametrize(
    ("media_type", "original"),
    [
        ("text/plain", b"Words."),
        ("text/markdown", b"*Words.*"),
        ("text/html", b"<b>Words.</b>"),
        ("application/x-ndjson", b'{"id": "1", "text": "Words."}'),
        ("TEXT/Plain; charset=utf-8", b"Words."),
    ],
)
def test_the_media_type_chooses_the_parser(media_type: str, original: bytes) -> None:
    assert parse(original, media_type).body == "Words."


def test_the_character_set_of_the_media_type_counts() -> None:
    assert parse("ışık".encode("iso-8859-9"), "text/plain; charset=iso-8859-9").body == "ışık"


def test_an_unknown_media_type_is_refused_with_the_known_ones() -> None:
    with pytest.raises(InvalidInput, match="text/markdown"):
        parse(b"x", "application/zip")


@pytest.mark.parametrize(
    ("media_type", "original"),
    [
        ("text/plain", b" \n\x00"),
        ("text/markdown", b"---\ntitle: A\n---\n"),
        ("text/html", b"<html><body><script>draw()</script></body></html>"),
        ("text/html", b""),
    ],
)
def test_an_original_without_text_is_refused(media_type: str, original: bytes) -> None:
    with pytest.raises(InvalidInput, match="holds no text"):
        parse(original, media_type)
