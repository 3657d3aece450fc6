"""One call for many texts as several calls of a bounded size, and their replies as one."""

from collections.abc import Sequence

from plumbline.embedding.v1 import embedding_pb2 as pb
from plumbline.embedding.v1 import vectors_pb2

# The service takes 2,048 texts and 4,000,000 code points a call and replies with 28 MiB of vectors at most. 1,024
# vectors of 768 numbers are 3 MiB; 1,000,000 code points, a token each, are 5,300 windows of 256 tokens, 8 MiB of
# 384 numbers.
MOST_TEXTS = 1024
MOST_CODE_POINTS = 1_000_000


def parts_of(
    request: pb.EmbedRequest, *, most_texts: int = MOST_TEXTS, most_code_points: int = MOST_CODE_POINTS
) -> list[pb.EmbedRequest]:
    """Requests with the texts of `request` in order; a single text over the bound goes alone. At least one."""
    parts: list[list[str]] = [[]]
    code_points = 0
    for text in request.texts:
        is_full = len(parts[-1]) == most_texts or code_points + len(text) > most_code_points
        if parts[-1] and is_full:
            parts.append([])
            code_points = 0
        parts[-1].append(text)
        code_points += len(text)
    if len(parts) == 1:
        return [request]
    return [_with_texts(request, texts) for texts in parts]


def _with_texts(request: pb.EmbedRequest, texts: Sequence[str]) -> pb.EmbedRequest:
    return pb.EmbedRequest(
        model=request.model,
        purpose=request.purpose,
        texts=texts,
        dtype=request.dtype,
        truncate=request.truncate,
        dimensions=request.dimensions,
    )


def joined(replies: Sequence[pb.EmbedResponse]) -> pb.EmbedResponse:
    """The replies to the parts, in order, as the reply to the whole; times are added up."""
    if len(replies) == 1:
        return replies[0]
    first = replies[0]
    texts: list[pb.EmbeddedText] = []
    rows = 0
    for reply in replies:
        for text in reply.texts:
            moved = pb.EmbeddedText()
            moved.CopyFrom(text)
            moved.first_row += rows
            texts.append(moved)
        rows += reply.vectors.rows
    return pb.EmbedResponse(
        vectors=vectors_pb2.PackedVectors(
            data=b"".join(reply.vectors.data for reply in replies),
            dtype=first.vectors.dtype,
            dimensions=first.vectors.dimensions,
            rows=rows,
        ),
        texts=texts,
        model=first.model,
        timings=pb.EmbedTimings(
            tokenize_ms=sum(reply.timings.tokenize_ms for reply in replies),
            queue_ms=sum(reply.timings.queue_ms for reply in replies),
            forward_ms=sum(reply.timings.forward_ms for reply in replies),
            post_ms=sum(reply.timings.post_ms for reply in replies),
        ),
    )
