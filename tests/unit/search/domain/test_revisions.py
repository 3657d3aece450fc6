from dataclasses import dataclass

from services.search.domain.revisions import are_mixed, newest_revisions


@dataclass(frozen=True)
class Chunk:
    document_id: str
    revision: int


def test_the_highest_revision_of_each_document_counts_wherever_it_stands() -> None:
    chunks = [Chunk("a", 3), Chunk("b", 9), Chunk("a", 5), Chunk("a", 4)]
    assert newest_revisions(chunks) == {"a": 5, "b": 9}


def test_no_chunks_have_no_revisions() -> None:
    assert newest_revisions([]) == {}


def test_revisions_are_mixed_when_one_document_has_two() -> None:
    assert are_mixed([Chunk("a", 1), Chunk("b", 2), Chunk("a", 2)])
    assert not are_mixed([Chunk("a", 1), Chunk("b", 2), Chunk("a", 1)])
    assert not are_mixed([])
