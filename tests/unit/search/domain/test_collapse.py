from hypothesis import given
from hypothesis import strategies as st

from services.search.domain.collapse import chunks_by_document

DOCUMENTS = {f"{document}{number}": document for document in "abc" for number in range(4)}


def test_a_document_stands_where_its_first_chunk_stands_with_the_others_behind_it() -> None:
    grouped = chunks_by_document(["b0", "a1", "b3", "a0"], DOCUMENTS)
    assert list(grouped.items()) == [("b", ("b0", "b3")), ("a", ("a1", "a0"))]


def test_no_chunks_are_no_documents() -> None:
    assert chunks_by_document([], DOCUMENTS) == {}


@given(st.lists(st.sampled_from(sorted(DOCUMENTS)), unique=True))
def test_every_chunk_comes_once_in_its_order_under_its_document(chunks: list[str]) -> None:
    grouped = chunks_by_document(chunks, DOCUMENTS)
    assert sorted(chunk for group in grouped.values() for chunk in group) == sorted(chunks)
    for document, group in grouped.items():
        assert list(group) == [chunk for chunk in chunks if DOCUMENTS[chunk] == document]
