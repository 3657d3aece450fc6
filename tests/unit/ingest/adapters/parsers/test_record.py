import json

import pytest

from services.ingest.adapters.parsers.record import parse_record
from services.ingest.domain.blocks import Block
from services.shared.runtime.errors import InvalidInput


def line(**values: object) -> bytes:
    return json.dumps(values).encode()


def test_a_paper_is_its_abstract_under_its_title() -> None:
    parsed = parse_record(line(id="p1", title="On Leave", abstract="We study leave. It helps.", year=2024))
    assert parsed.title == "On Leave"
    assert parsed.blocks == (Block("paragraph", "We study leave. It helps."),)


@pytest.mark.parametrize(("kind", "content"), [("markdown", "# T\n\n*x*"), ("html", "<h1>T</h1><p>x</p>")])
def test_a_record_may_hold_markdown_or_html(kind: str, content: str) -> None:
    parsed = parse_record(line(id="1", **{kind: content}))
    assert parsed.title == "T"
    assert parsed.blocks == (Block("paragraph", "x", ("T",), (1,)),)


def test_the_title_of_the_record_goes_before_that_of_its_content() -> None:
    assert parse_record(line(id="1", title="Given", markdown="# T\n\nx")).title == "Given"


@pytest.mark.parametrize("data", [b"{", b"[1]", b'{"id": "1"}', b'{"id": "1", "text": 5}', b"\xff{}"])
def test_what_is_not_a_record_is_refused(data: bytes) -> None:
    with pytest.raises(InvalidInput):
        parse_record(data)


def test_half_a_surrogate_pair_does_no_harm() -> None:
    assert parse_record(rb'{"id": "1", "text": "a\ud83d"}').body == "a\ufffd"
