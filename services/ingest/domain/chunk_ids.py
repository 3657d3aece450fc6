"""The id of a chunk says what it is: the same text under the same context in the same document keeps its id."""

import hashlib
from collections import Counter
from collections.abc import Sequence
from uuid import UUID, uuid5

from services.ingest.domain.chunking import Chunk

# Drawn once; another value would give every stored chunk another id.
_NAMESPACE = UUID("9a8452cc-0880-43d6-9602-ffa764b57161")


def chunk_ids(document_id: str, chunks: Sequence[Chunk]) -> list[str]:
    """The ids of a document's chunks, in order and all different.

    An id is the UUIDv5 of the document's id, the hash of context and text, and how many chunks of the document with
    the same hash came before: so inserting or removing a chunk leaves the ids of the others as they are.
    """
    seen: Counter[str] = Counter()
    ids = []
    for chunk in chunks:
        # The length tells apart where context ends and text begins.
        content = f"{len(chunk.context)}:{chunk.context}{chunk.text}"
        digest = hashlib.sha256(content.encode()).hexdigest()
        ids.append(str(uuid5(_NAMESPACE, f"{digest}:{seen[digest]}:{document_id}")))
        seen[digest] += 1
    return ids
