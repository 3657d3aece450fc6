"""Hits that are documents: the best chunk of each stands for it, the others are listed under it."""

from collections.abc import Mapping, Sequence


def chunks_by_document(chunk_ids: Sequence[str], document_of: Mapping[str, str]) -> dict[str, tuple[str, ...]]:
    """The documents of `chunk_ids`, in the order of their first chunk, each with its chunks in the given order.

    `document_of` tells the document of every chunk. Best chunk first in means best chunk first out.
    """
    groups: dict[str, list[str]] = {}
    for chunk_id in chunk_ids:
        groups.setdefault(document_of[chunk_id], []).append(chunk_id)
    return {document_id: tuple(chunks) for document_id, chunks in groups.items()}
