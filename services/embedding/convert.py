"""Messages of the embedding service to and from its domain; bad values become `InvalidInput` naming the field."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from plumbline.embedding.v1 import embedding_pb2 as pb
from plumbline.embedding.v1 import vectors_pb2
from services.embedding.domain.embedding import Embedding, ModelFacts, Purpose, Timings
from services.embedding.domain.pairs import Pair
from services.embedding.scoring import Scored
from services.shared.clients.vectors import pack_vectors
from services.shared.runtime.errors import InvalidInput

MAX_TEXTS = 2048
MAX_CODE_POINTS = 4_000_000
_PLAIN_NAME = re.compile(r"[A-Za-z0-9][\w.-]{0,199}")
_SHA256 = re.compile("[0-9a-f]{64}")
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
    dimensions: int


def embed_call_from_proto(request: pb.EmbedRequest, facts: ModelFacts) -> EmbedCall:
    """The call, its size within bounds and its dimensions among the model's."""
    if request.purpose not in _PURPOSES:
        raise InvalidInput("set purpose to PURPOSE_QUERY or PURPOSE_PASSAGE", field="purpose")
    if request.dtype not in _DTYPES:
        raise InvalidInput("set dtype to VECTOR_DTYPE_FLOAT16 or VECTOR_DTYPE_FLOAT32", field="dtype")
    offered = (*facts.shorter_dimensions, facts.dimensions)
    if request.dimensions not in (0, *offered):
        sizes = " or ".join(map(str, offered))
        raise InvalidInput(f"{facts.name} gives {sizes} dimensions, not {request.dimensions}", field="dimensions")
    if not 1 <= len(request.texts) <= MAX_TEXTS:
        raise InvalidInput(f"from 1 to {MAX_TEXTS} texts a call, got {len(request.texts)}", field="texts")
    texts = tuple(request.texts)
    code_points = sum(map(len, texts))
    if code_points > MAX_CODE_POINTS:
        raise InvalidInput(
            f"at most {MAX_CODE_POINTS} code points a call, got {code_points}; send the texts in several calls",
            field="texts",
        )
    purpose, dtype = _PURPOSES[request.purpose], _DTYPES[request.dtype]
    return EmbedCall(texts, purpose, request.truncate, dtype, request.dimensions or facts.dimensions)


def embedding_to_proto(
    embedding: Embedding, facts: ModelFacts, *, dtype: "vectors_pb2.VectorDtype"
) -> pb.EmbedResponse:
    """The vectors of all windows, row after row, and which of them are whose."""
    texts, row = [], 0
    for text in embedding.texts:
        windows = [pb.Window(start=span.start, end=span.end) for span in text.windows]
        texts.append(pb.EmbeddedText(tokens=text.tokens, windows=windows, first_row=row, truncated=text.truncated))
        row += len(windows)
    rows = np.concatenate([text.vectors for text in embedding.texts])
    return pb.EmbedResponse(
        vectors=pack_vectors(rows, dtype),
        texts=texts,
        model=identity_to_proto(facts, dimensions=rows.shape[1]),
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
    """What is known of a model. None of the kinds served here tells its languages."""
    return pb.DescribeModelResponse(
        model=identity_to_proto(facts, dimensions=facts.dimensions),
        max_tokens=facts.max_tokens,
        special_tokens=facts.special_tokens,
        tokenizer_json=tokenizer_json,
        device=facts.device,
        dtype=facts.dtype,
        loaded=loaded,
        kind=facts.kind,
        tokens_estimated=facts.tokens_estimated,
        revision=facts.revision,
        shorter_dimensions=facts.shorter_dimensions,
    )


def pairs_from_proto(request: pb.ScoreRequest) -> list[Pair]:
    """The pairs, their number and size within bounds."""
    if not 1 <= len(request.pairs) <= MAX_TEXTS:
        raise InvalidInput(f"from 1 to {MAX_TEXTS} pairs a call, got {len(request.pairs)}", field="pairs")
    pairs = [Pair(pair.query, pair.passage) for pair in request.pairs]
    code_points = sum(len(pair.query) + len(pair.passage) for pair in pairs)
    if code_points > MAX_CODE_POINTS:
        raise InvalidInput(
            f"at most {MAX_CODE_POINTS} code points a call, got {code_points}; send the pairs in several calls",
            field="pairs",
        )
    return pairs


def scored_to_proto(scored: Scored, facts: ModelFacts) -> pb.ScoreResponse:
    """The score of each pair."""
    return pb.ScoreResponse(
        scores=scored.scores,
        windows=scored.windows,
        model=identity_to_proto(facts, dimensions=0),
        timings=_timings_to_proto(scored.timings),
    )


def new_model_from_proto(request: pb.LoadModelRequest) -> tuple[str, str | None]:
    """Name and wanted hash of a model to load; the name is that of a folder and no path."""
    if not _PLAIN_NAME.fullmatch(request.model):
        raise InvalidInput("name a folder in the service's folder of models, without a path", field="model")
    if request.weights_sha256 and not _SHA256.fullmatch(request.weights_sha256):
        raise InvalidInput("a SHA-256 is 64 lower-case hex digits", field="weights_sha256")
    return request.model, request.weights_sha256 or None


def identity_to_proto(facts: ModelFacts, *, dimensions: int) -> pb.ModelIdentity:
    """Which weights made a reply with vectors of so many numbers."""
    return pb.ModelIdentity(name=facts.name, weights_sha256=facts.weights_sha256, dimensions=dimensions)
