from collections.abc import AsyncIterator
from itertools import pairwise

import pytest
from fastapi import Request
from hypothesis import given
from hypothesis import strategies as st
from starlette.exceptions import HTTPException

from services.gateway.multipart import PartBegins, read_parts
from services.shared.runtime.errors import InvalidInput

BODY = (
    b'--cut\r\nContent-Disposition: form-data; name="metadata"\r\n\r\n{}\r\n'
    b'--cut\r\nContent-Disposition: form-data; name="file"; filename="a\xc3\xa4.md"\r\n'
    b"Content-Type: text/markdown\r\n\r\n"
    b"one\r\n--cu\r\n-two\r\n"
    b'--cut\r\ncontent-disposition: form-data; name="file"; filename="b"\r\n\r\n\r\n--cut--\r\n'
)


def request(*chunks: bytes, content_type: str = "multipart/form-data; boundary=cut") -> Request:
    waiting = list(chunks)

    async def receive() -> dict[str, object]:
        return {"type": "http.request", "body": waiting.pop(0), "more_body": bool(waiting)}

    headers = [(b"content-type", content_type.encode())]
    return Request({"type": "http", "method": "POST", "headers": headers}, receive)


async def joined(parts: AsyncIterator[PartBegins | bytes]) -> list[tuple[PartBegins, bytes]]:
    found: list[tuple[PartBegins, bytes]] = []
    async for piece in parts:
        if isinstance(piece, bytes):
            part, content = found[-1]
            found[-1] = (part, content + piece)
        else:
            found.append((piece, b""))
    return found


@given(st.lists(st.integers(0, len(BODY)), max_size=6))
async def test_parts_are_the_same_however_the_body_is_cut(cuts: list[int]) -> None:
    edges = [0, *sorted(cuts), len(BODY)]
    chunks = [BODY[start:end] for start, end in pairwise(edges)]
    assert await joined(read_parts(request(*chunks), max_bytes=1000)) == [
        (PartBegins("metadata", None, ""), b"{}"),
        (PartBegins("file", "aä.md", "text/markdown"), b"one\r\n--cu\r\n-two"),
        (PartBegins("file", "b", ""), b""),
    ]


@given(st.integers(0, len(BODY) - 5))
async def test_a_body_that_is_cut_short_is_refused(length: int) -> None:
    with pytest.raises(InvalidInput):
        await joined(read_parts(request(BODY[:length]), max_bytes=1000))


async def test_a_body_over_the_limit_is_refused_at_the_limit() -> None:
    read: list[PartBegins | bytes] = []
    with pytest.raises(HTTPException) as raised:
        async for piece in read_parts(request(BODY[:100], BODY[100:]), max_bytes=150):
            read.append(piece)
    assert raised.value.status_code == 413
    assert read


@pytest.mark.parametrize(
    "content_type", ["", "application/json", "multipart/form-data", "multipart/mixed; boundary=cut"]
)
async def test_another_content_type_is_refused(content_type: str) -> None:
    with pytest.raises(HTTPException) as raised:
        await joined(read_parts(request(BODY, content_type=content_type), max_bytes=1000))
    assert raised.value.status_code == 415
