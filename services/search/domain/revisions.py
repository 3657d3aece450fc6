"""Of two revisions of one document a result holds the newer one only, so that old and new text never stand together.

While a document is updated, both are in the index for a moment, and two reads may see different moments.
"""

from collections.abc import Iterable, Mapping
from typing import Protocol


class Revised(Protocol):
    """A chunk that knows which revision of which document it is of."""

    @property
    def document_id(self) -> str: ...

    @property
    def revision(self) -> int: ...


def newest_revisions(chunks: Iterable[Revised]) -> Mapping[str, int]:
    """The highest revision of each document among `chunks`."""
    newest: dict[str, int] = {}
    for chunk in chunks:
        newest[chunk.document_id] = max(chunk.revision, newest.get(chunk.document_id, chunk.revision))
    return newest


def are_mixed(chunks: Iterable[Revised]) -> bool:
    """Whether two of the chunks are of different revisions of one document."""
    seen: dict[str, int] = {}
    return any(seen.setdefault(chunk.document_id, chunk.revision) != chunk.revision for chunk in chunks)
