"""The cursor of a next page: the rest of a ranked window, signed, so that a caller can hand it back but not change it.

Nothing is kept between two pages: any replica with the same secret serves the next one. The signature covers the query
as well, so a cursor is of no use with another query, filter or collection.
"""

import base64
import hashlib
import hmac
import struct
import uuid
from collections.abc import Iterator
from dataclasses import dataclass

from services.search.domain.invalid_query import InvalidQuery

_SIGNATURE_BYTES = 32
# Version, revision, place, hits in the whole window, degraded parts, hits that follow, bytes of the generation's id.
_HEAD = struct.Struct("<BQIIBIH")
_HIT = struct.Struct("<16sdH")
_ALSO = struct.Struct("<16sI")
_VERSION = 2
PARTS = ("catalog", "cross_encoder", "keyword", "ranking", "redundancy", "vector")
"""What a search may have to do without. In a cursor each is one bit by its place here."""


@dataclass(frozen=True, slots=True)
class Also:
    """A further chunk of a hit's document, and its place, from 1, in the fused order of chunks."""

    chunk_id: str
    fused_place: int


@dataclass(frozen=True, slots=True)
class CursorHit:
    """A hit of the window that has not been shown yet; ids are UUIDs."""

    chunk_id: str
    score: float
    also: tuple[Also, ...] = ()


@dataclass(frozen=True, slots=True)
class Cursor:
    """The rest of a window: `hits` follow `place` hits that were shown, out of `window` hits in all.

    `generation_id` and `revision` are those that the window was taken from, `degraded` the parts that it lacks.
    """

    generation_id: str
    revision: int
    place: int
    window: int
    degraded: tuple[str, ...]
    hits: tuple[CursorHit, ...]


def sign_cursor(cursor: Cursor, *, fingerprint: bytes, secret: bytes) -> str:
    """The cursor as text in URL-safe Base64; about 35 characters a hit. `fingerprint` stands for the query."""
    generation_id = cursor.generation_id.encode()
    degraded = sum(1 << PARTS.index(part) for part in cursor.degraded)
    head = _HEAD.pack(
        _VERSION, cursor.revision, cursor.place, cursor.window, degraded, len(cursor.hits), len(generation_id)
    )
    body = head + generation_id + b"".join(_packed(cursor.hits))
    return base64.urlsafe_b64encode(_signature(body, fingerprint, secret) + body).decode()


def _packed(hits: tuple[CursorHit, ...]) -> Iterator[bytes]:
    for hit in hits:
        yield _HIT.pack(uuid.UUID(hit.chunk_id).bytes, hit.score, len(hit.also))
        for also in hit.also:
            yield _ALSO.pack(uuid.UUID(also.chunk_id).bytes, also.fused_place)


def read_cursor(text: str, *, fingerprint: bytes, secret: bytes) -> Cursor:
    """The cursor in `text`.

    Raises InvalidQuery naming `cursor` unless it was signed with this secret for a query of this fingerprint.
    """
    try:
        signed = base64.b64decode(text, altchars=b"-_", validate=True)
    except ValueError:
        signed = b""
    signature, body = signed[:_SIGNATURE_BYTES], signed[_SIGNATURE_BYTES:]
    if not hmac.compare_digest(signature, _signature(body, fingerprint, secret)) or body[:1] != bytes([_VERSION]):
        raise InvalidQuery(
            "not a cursor of this very search: hand back `next` as it came with the same query, or search again",
            field="cursor",
        )
    _, revision, place, window, degraded, count, id_bytes = _HEAD.unpack_from(body)
    start = _HEAD.size + id_bytes
    return Cursor(
        generation_id=body[_HEAD.size : start].decode(),
        revision=revision,
        place=place,
        window=window,
        degraded=tuple(part for bit, part in enumerate(PARTS) if degraded >> bit & 1),
        hits=_unpacked(body, start, count),
    )


def _unpacked(body: bytes, start: int, count: int) -> tuple[CursorHit, ...]:
    hits = []
    for _ in range(count):
        chunk_id, score, also_count = _HIT.unpack_from(body, start)
        start += _HIT.size
        end = start + also_count * _ALSO.size
        also = tuple(Also(_uuid(other), place) for other, place in _ALSO.iter_unpack(body[start:end]))
        hits.append(CursorHit(_uuid(chunk_id), score, also))
        start = end
    return tuple(hits)


def _uuid(packed: bytes) -> str:
    return str(uuid.UUID(bytes=packed))


def _signature(body: bytes, fingerprint: bytes, secret: bytes) -> bytes:
    # The fingerprint goes in as a digest: of fixed length, so no two pairs give the same bytes.
    return hmac.digest(secret, hashlib.sha256(fingerprint).digest() + body, "sha256")
