"""Many texts in several calls: nothing lost, nothing over the bounds, rows where the reply to the whole has them."""

from hypothesis import given
from hypothesis import strategies as st

from plumbline.embedding.v1 import embedding_pb2 as pb
from plumbline.embedding.v1 import vectors_pb2
from services.shared.clients.embed_parts import MOST_CODE_POINTS, MOST_TEXTS, joined, parts_of

WHOLE = pb.EmbedRequest(
    model="m", purpose=pb.PURPOSE_PASSAGE, dtype=vectors_pb2.VECTOR_DTYPE_FLOAT16, truncate=True, dimensions=8
)


def request_of(texts: list[str]) -> pb.EmbedRequest:
    request = pb.EmbedRequest()
    request.CopyFrom(WHOLE)
    request.texts.extend(texts)
    return request


def test_what_fits_goes_as_it_is_also_without_a_text() -> None:
    for texts in ([], ["a"] * MOST_TEXTS):
        assert parts_of(request_of(texts)) == [request_of(texts)]


def test_more_texts_or_more_characters_than_fit_go_in_several_calls_that_ask_for_the_same() -> None:
    assert [len(part.texts) for part in parts_of(request_of(["a"] * 2500))] == [1024, 1024, 452]
    long = "x" * (MOST_CODE_POINTS // 2)
    parts = parts_of(request_of([long, long, "y"]))
    assert parts == [request_of([long, long]), request_of(["y"])]


@given(st.lists(st.text(max_size=25), max_size=12))
def test_no_text_is_lost_and_only_one_alone_is_over_the_bound(texts: list[str]) -> None:
    parts = [list(part.texts) for part in parts_of(request_of(texts), most_texts=4, most_code_points=20)]
    assert [text for part in parts for text in part] == texts
    assert all(len(part) <= 4 for part in parts)
    assert all(len(part) == 1 or sum(map(len, part)) <= 20 for part in parts)


def reply_of(rows: int, first_rows: list[int]) -> pb.EmbedResponse:
    return pb.EmbedResponse(
        vectors=vectors_pb2.PackedVectors(data=bytes([rows]) * 4 * rows, dtype=2, dimensions=1, rows=rows),
        texts=[pb.EmbeddedText(first_row=row, tokens=9) for row in first_rows],
        model=pb.ModelIdentity(name="m"),
        timings=pb.EmbedTimings(tokenize_ms=1, queue_ms=2, forward_ms=3, post_ms=4),
    )


def test_replies_are_joined_with_their_rows_after_each_other_and_their_times_added() -> None:
    first, second = reply_of(3, [0, 2]), reply_of(2, [0, 1])
    whole = joined([first, second])
    assert [text.first_row for text in whole.texts] == [0, 2, 3, 4]
    assert (whole.vectors.rows, whole.vectors.data) == (5, first.vectors.data + second.vectors.data)
    assert (whole.model.name, whole.timings.tokenize_ms, whole.timings.post_ms) == ("m", 2, 8)
    assert [text.first_row for text in second.texts] == [0, 1]  # what came in is as it was
