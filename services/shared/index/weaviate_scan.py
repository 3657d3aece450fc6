"""Walking through all chunks of a class, when more than one replica is asked for each page. Pure."""

from collections.abc import Sequence

from services.shared.index.chunk import ChunkKey
from services.shared.index.weaviate_filter import keyword_value
from services.shared.index.weaviate_requests import Copy, Wanted

PAGE = 2_000
KEYS = Wanted(columns=("chunk_id", "document_id", "revision", "windows"))
BEFORE_ALL = "00000000-0000-0000-0000-000000000000"


def next_page(answers: Sequence[Sequence[Copy]]) -> tuple[list[Copy], str | None]:
    """The chunks of one page, and after which object's id to go on; None at the end.

    `answers` has, for each replica, its first `PAGE` chunks after the page before, in the order of their objects' ids.
    A page ends where the first full answer ends, because that replica has told nothing of what comes after.
    """
    ends = [answer[-1].object_id for answer in answers if len(answer) == PAGE]
    last = min(ends, default=None)
    found = {copy.object_id: copy for answer in answers for copy in answer if last is None or copy.object_id <= last}
    return list(found.values()), last


def key_of(copy: Copy) -> ChunkKey:
    """The key of a chunk that was asked for with `KEYS`."""
    fields = copy.result.properties.non_ref_props.fields
    return ChunkKey(copy.chunk_id, keyword_value(fields["document_id"].text_value), fields["revision"].int_value)
