from dataclasses import replace

from services.ingest.domain.chunk_ids import chunk_ids
from services.ingest.domain.chunking import Chunk


def chunk(text: str, context: str = "Title") -> Chunk:
    return Chunk(0, text, context, (), (), 0, len(text), 1)


def test_the_same_chunks_have_the_same_ids_for_ever() -> None:
    assert chunk_ids("doc", [chunk("One."), chunk("Two.")]) == [
        "7ad8d3c0-315f-55a9-8d69-fe7d7c5ffac1",
        "74d975f3-d90a-5bb3-bba0-5d24679e025e",
    ]


def test_an_inserted_chunk_leaves_the_ids_of_the_others() -> None:
    before = chunk_ids("doc", [chunk("One."), chunk("Two.")])
    after = chunk_ids("doc", [chunk("Zero."), chunk("One."), chunk("Two.")])
    assert after[1:] == before


def test_the_same_text_twice_has_two_ids() -> None:
    first, second = chunk_ids("doc", [chunk("Again."), chunk("Again.")])
    assert first != second
    assert chunk_ids("doc", [chunk("Again.")]) == [first]


def test_place_pages_and_tokens_are_no_part_of_an_id() -> None:
    moved = replace(chunk("One."), ordinal=7, start=100, end=104, pages=(3,), tokens=9)
    assert chunk_ids("doc", [moved]) == chunk_ids("doc", [chunk("One.")])


def test_document_context_and_text_each_make_another_id() -> None:
    ids = {
        *chunk_ids("doc", [chunk("ab", "c")]),
        *chunk_ids("doc", [chunk("b", "ca")]),
        *chunk_ids("doc", [chunk("ab", "d")]),
        *chunk_ids("other", [chunk("ab", "c")]),
    }
    assert len(ids) == 4
