import base64
import uuid

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.gateway.bodies.search import SearchBody
from services.search.domain.cursor import Also, Cursor, CursorHit, read_cursor, sign_cursor
from services.search.domain.invalid_query import InvalidQuery

SECRET, QUERY = b"a secret of the service", b"the query"
IDS = st.uuids().map(str)
ALSO = st.lists(st.builds(Also, IDS, st.integers(1, 10_000)), max_size=3).map(tuple)
HITS = st.lists(st.builds(CursorHit, IDS, st.floats(0, 12), ALSO), max_size=20).map(tuple)
CURSORS = st.builds(
    Cursor,
    generation_id=st.text(min_size=1, max_size=64).filter(lambda text: text.isprintable()),
    revision=st.integers(0, 2**63),
    place=st.integers(0, 1000),
    window=st.integers(0, 1000),
    degraded=st.sets(st.sampled_from(["catalog", "keyword", "ranking", "vector"])).map(sorted).map(tuple),
    hits=HITS,
)


def a_cursor(**changes: object) -> Cursor:
    hits = (CursorHit(str(uuid.UUID(int=1)), 0.5, (Also(str(uuid.UUID(int=2)), 7),)),)
    fields = {"generation_id": "g1", "revision": 7, "place": 10, "window": 11, "degraded": ("vector",), "hits": hits}
    return Cursor(**{**fields, **changes})


def signed(**changes: object) -> str:
    return sign_cursor(a_cursor(**changes), fingerprint=QUERY, secret=SECRET)


def refused(text: str, *, fingerprint: bytes = QUERY, secret: bytes = SECRET) -> bool:
    with pytest.raises(InvalidQuery) as error:
        read_cursor(text, fingerprint=fingerprint, secret=secret)
    return error.value.field == "cursor"


@given(CURSORS, st.binary(), st.binary(min_size=1))
def test_what_was_signed_is_read_back(cursor: Cursor, fingerprint: bytes, secret: bytes) -> None:
    text = sign_cursor(cursor, fingerprint=fingerprint, secret=secret)
    assert read_cursor(text, fingerprint=fingerprint, secret=secret) == cursor


@given(st.data())
def test_a_cursor_with_any_byte_changed_is_refused(data: st.DataObject) -> None:
    raw = bytearray(base64.urlsafe_b64decode(signed()))
    place = data.draw(st.integers(0, len(raw) - 1))
    raw[place] ^= data.draw(st.integers(1, 255))
    assert refused(base64.urlsafe_b64encode(bytes(raw)).decode())


@given(st.integers(1, 200))
def test_a_shortened_cursor_is_refused(kept: int) -> None:
    text = signed()
    assert refused(text[: kept % len(text)])


def test_a_cursor_of_another_query_is_refused() -> None:
    assert refused(signed(), fingerprint=b"another query")


def test_a_cursor_signed_with_another_secret_is_refused() -> None:
    assert refused(signed(), secret=b"another secret")


def test_the_end_of_the_query_cannot_pass_for_the_beginning_of_the_cursor() -> None:
    assert refused(sign_cursor(a_cursor(), fingerprint=QUERY + b"\x01", secret=SECRET))


@pytest.mark.parametrize("text", ["x", "not base64!", "Ünïcode", "AAAA", "\x00", "=" * 8, "A" * 100_000])
def test_text_that_is_no_cursor_is_refused(text: str) -> None:
    assert refused(text)


def test_a_cursor_of_the_largest_window_stays_small() -> None:
    hits = tuple(CursorHit(str(uuid.uuid4()), 0.5) for _ in range(100))
    assert len(signed(hits=hits)) < 4000


def test_the_longest_cursor_there_can_be_may_be_handed_back() -> None:
    # 1,000 documents of a window; each leg found 4,000 chunks, of which no two are the same.
    also = tuple(Also(str(uuid.uuid4()), place) for place in range(7))
    hits = tuple(CursorHit(str(uuid.uuid4()), 0.5, also) for _ in range(1000))
    longest = signed(hits=hits, generation_id="g" * 64)
    assert len(longest) > 200_000
    assert SearchBody(collection="c", query="q", cursor=longest).cursor == longest
