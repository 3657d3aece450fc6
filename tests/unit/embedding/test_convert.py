"""Requests within bounds, replies that say which row is whose."""

import numpy as np
import pytest

from plumbline.embedding.v1 import embedding_pb2 as pb
from plumbline.embedding.v1 import vectors_pb2
from services.embedding.convert import MAX_CODE_POINTS, MAX_TEXTS, embed_call_from_proto, embedding_to_proto
from services.embedding.domain.embedding import EmbeddedText, Embedding, ModelFacts, Purpose, Timings
from services.embedding.domain.windows import Span
from services.shared.clients.vectors import unpack_vectors
from services.shared.runtime.errors import InvalidInput

FACTS = ModelFacts("m", "kind", "ab", 2, 256, 2, "cpu", "float32")
TWO_TEXTS = Embedding(
    (
        EmbeddedText(300, (Span(0, 7), Span(5, 9)), np.array([[1, 0], [0, 1]], dtype=np.float32), False),
        EmbeddedText(1, (Span(0, 1),), np.array([[0.6, 0.8]], dtype=np.float32), True),
    ),
    Timings(0.001, 0.002, 0.003, 0.004),
)


def test_a_request_is_read_with_float32_where_it_names_no_number_format() -> None:
    call = embed_call_from_proto(pb.EmbedRequest(texts=["a"], purpose=pb.PURPOSE_PASSAGE), FACTS)
    assert (call.texts, call.purpose, call.truncate) == (("a",), Purpose.PASSAGE, False)
    assert call.dtype == vectors_pb2.VECTOR_DTYPE_FLOAT32


@pytest.mark.parametrize(
    ("request_", "field"),
    [
        (pb.EmbedRequest(texts=["a"]), "purpose"),
        (pb.EmbedRequest(texts=["a"], purpose=9), "purpose"),  # type: ignore[arg-type]
        (pb.EmbedRequest(texts=["a"], purpose=pb.PURPOSE_QUERY, dtype=9), "dtype"),  # type: ignore[arg-type]
        (pb.EmbedRequest(texts=["a"], purpose=pb.PURPOSE_QUERY, dimensions=1), "dimensions"),
        (pb.EmbedRequest(purpose=pb.PURPOSE_QUERY), "texts"),
        (pb.EmbedRequest(texts=["a"] * (MAX_TEXTS + 1), purpose=pb.PURPOSE_QUERY), "texts"),
        (pb.EmbedRequest(texts=["a" * MAX_CODE_POINTS, "b"], purpose=pb.PURPOSE_QUERY), "texts"),
    ],
    ids=["no purpose", "unknown purpose", "unknown dtype", "fewer dimensions", "no text", "many texts", "long texts"],
)
def test_a_request_out_of_bounds_is_refused_by_its_field(request_: pb.EmbedRequest, field: str) -> None:
    with pytest.raises(InvalidInput) as refusal:
        embed_call_from_proto(request_, FACTS)
    assert refusal.value.field == field


def test_a_reply_tells_for_each_text_its_windows_and_its_first_row() -> None:
    reply = embedding_to_proto(TWO_TEXTS, FACTS, dtype=vectors_pb2.VECTOR_DTYPE_FLOAT32)
    assert [(text.first_row, text.tokens, text.truncated) for text in reply.texts] == [(0, 300, False), (2, 1, True)]
    assert [(window.start, window.end) for window in reply.texts[0].windows] == [(0, 7), (5, 9)]
    assert unpack_vectors(reply.vectors, field="vectors") == pytest.approx(np.array([[1, 0], [0, 1], [0.6, 0.8]]))
    assert (reply.model.name, reply.model.weights_sha256, reply.model.dimensions) == ("m", "ab", 2)
    assert (reply.timings.tokenize_ms, reply.timings.queue_ms) == (1.0, 2.0)
    assert (reply.timings.forward_ms, reply.timings.post_ms) == (3.0, 4.0)


def test_half_precision_takes_two_bytes_a_number() -> None:
    reply = embedding_to_proto(TWO_TEXTS, FACTS, dtype=vectors_pb2.VECTOR_DTYPE_FLOAT16)
    assert len(reply.vectors.data) == 3 * 2 * 2
