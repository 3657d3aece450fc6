"""Messages of the embedding service to and from its domain; bad values become `InvalidInput` naming the field."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from plumbline.embedding.v1 import embedding_pb2 as pb
from plumbline.embedding.v1 import vectors_pb2
from services.embedding.domain.embedding import Embedding, ModelFacts, Purpose, Timings
from services.shared.clients.vectors import pack_vectors
from services.shared.runtime.errors import InvalidInput

MAX_TEXTS = 2048
MAX_CODE_POINTS = 4_000_000
_PURPOSES = {pb.PURPOSE_QUERY: Purpose.QUERY, pb.PURPOSE_PASSAGE: Purpose.PASSAGE}
_DTYPES = {
    vectors_pb2.VECTOR_DTYPE_UNSPECIFIED: vectors_pb2.VECTOR_DTYPE_FLOAT32,
    vectors_pb2.VECTOR_DTYPE_FLOAT16: vectors_pb2.VECTOR_DTYPE_FLOAT16,
    vectors_pb2.VECTOR_DTYPE_FLOAT32: vectors_pb2.VECTOR_DTYPE_FLOAT32,
}


@dataclass(frozen=True, slots=True)
class EmbedCall:
    """What a request asks for."""

    texts: tuple[str, ...]
    purpose: Purpose
    truncate: bool
    dtype: "vectors_pb2.VectorDtype"


def embed_call_from_proto(request: pb.EmbedRequest, *, dimensions: int) -> EmbedCall:
    """The call, its size within bounds; `dimensions` are the model's."""
    if request.purpose not in _PURPOSES:
        raise InvalidInput("set purpose to PURPOSE_QUERY or PURPOSE_PASSAGE", field="purpose")
    if request.dtype not in _DTYPES:
        raise InvalidInput("set dtype to VECTOR_DTYPE_FLOAT16 or VECTOR_DTYPE_FLOAT32", field="dtype")
    if request.dimensions not in (0, dimensions):
        raise InvalidInput(f"this version gives all {dimensions} dimensions; leave it unset", field="dimensions")
    if not 1 <= len(request.texts) <= MAX_TEXTS:
        raise InvalidInput(f"from 1 to {MAX_TEXTS} texts a call, got {len(request.texts)}", field="texts")
    texts = tuple(request.texts)
    code_points = sum(map(len, texts))
    if code_points > MAX_CODE_POINTS:
        raise InvalidInput(
            f"at most {MAX_CODE_POINTS} code points a call, got {code_points}; send the texts in several calls",
            field="texts",
        )
    return EmbedCall(texts, _PURPOSES[request.purpose], request.truncate, _DTYPES[request.dtype])


def embedding_to_proto(
    embedding: Embedding, facts: ModelFacts, *, dtype: "vectors_pb2.VectorDtype"
) -> pb.EmbedResponse:
    """The vectors of all windows, row after row, and which of them are whose."""
    texts, row = [], 0
    for text in embedding.texts:
        windows = [pb.Window(start=span.start, end=span.end) for span in text.windows]
        texts.append(pb.EmbeddedText(tokens=text.tokens, windows=windows, first_row=row, truncated=text.truncated))
        row += len(windows)
    return pb.EmbedResponse(
        vectors=pack_vectors(np.concatenate([text.vectors for text in embedding.texts]), dtype),
        texts=texts,
        model=_identity(facts),
        timings=_timings_to_proto(embedding.timings),
    )


def _timings_to_proto(timings: Timings) -> pb.EmbedTimings:
    return pb.EmbedTimings(
        tokenize_ms=timings.tokenize_s * 1000,
        queue_ms=timings.queue_s * 1000,
        forward_ms=timings.forward_s * 1000,
        post_ms=timings.post_s * 1000,
    )


def facts_to_proto(facts: ModelFacts, *, loaded: Sequence[str], tokenizer_json: bytes) -> pb.DescribeModelResponse:
    """What is known of a model. None of the kinds served here tells its languages or estimates its tokens."""
    return pb.DescribeModelResponse(
        model=_identity(facts),
        max_tokens=facts.max_tokens,
        special_tokens=facts.special_tokens,
        tokenizer_json=tokenizer_json,
        device=facts.device,
        dtype=facts.dtype,
        loaded=loaded,
        kind=facts.kind,
    )


def _identity(facts: ModelFacts) -> pb.ModelIdentity:
    return pb.ModelIdentity(name=facts.name, weights_sha256=facts.weights_sha256, dimensions=facts.dimensions)
