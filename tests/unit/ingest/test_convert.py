"""What the embedding service sends to ingest."""

import numpy as np

from plumbline.embedding.v1 import embedding_pb2, vectors_pb2
from services.ingest import convert
from services.shared.clients.vectors import pack_vectors


def test_vectors_in_half_precision_take_half_the_bytes_and_come_back_by_text() -> None:
    rows = np.array([[1, 0], [0.6, 0.8], [0, 1]], dtype=np.float32)
    half = pack_vectors(rows, vectors_pb2.VECTOR_DTYPE_FLOAT16)
    assert len(half.data) * 2 == len(pack_vectors(rows, vectors_pb2.VECTOR_DTYPE_FLOAT32).data)
    window = embedding_pb2.Window()
    reply = embedding_pb2.EmbedResponse(
        vectors=half,
        texts=[
            embedding_pb2.EmbeddedText(first_row=0, windows=[window, window]),
            embedding_pb2.EmbeddedText(first_row=2, windows=[window]),
        ],
    )

    first, second = convert.vectors_from_proto(reply)

    np.testing.assert_allclose(first, rows[:2], atol=5e-4)  # half precision has 11 bits: 0.6 is off by 0.0002
    np.testing.assert_array_equal(second, rows[2:])
