"""Several replicas' answers made into one."""

from weaviate.proto.v1 import search_get_pb2

from services.shared.index.weaviate_replicas import union_of
from services.shared.index.weaviate_requests import Copy


def copy(chunk_id: str, score: float = 1.0, written_ms: int = 1) -> Copy:
    return Copy(chunk_id, score, written_ms, search_get_pb2.SearchResult())


def names(copies: list[Copy] | tuple[Copy, ...]) -> list[str]:
    return [one.chunk_id for one in copies]


def test_equal_answers_are_one_without_doubt() -> None:
    union = union_of([[copy("b", 2), copy("a")], [copy("b", 2), copy("a")]])
    assert names(union.found) == ["b", "a"]
    assert union.doubtful == set()


def test_newest_copy_stands_with_its_own_score() -> None:
    old, new, other = copy("a", 9, written_ms=1), copy("a", 1, written_ms=2), copy("b", 5)
    for answers in ([[old, other], [new, other]], [[new, other], [old, other]]):
        union = union_of(answers)
        assert union.found == (other, new)
        assert union.doubtful == set()


def test_chunk_that_not_every_replica_brought_is_doubtful() -> None:
    union = union_of([[copy("a", 3), copy("b", 2)], [copy("b", 2), copy("c", 1)]])
    assert names(union.found) == ["a", "b", "c"]
    assert union.doubtful == {"a", "c"}


def test_only_the_doubtful_among_the_first_are_looked_at() -> None:
    union = union_of([[copy("a", 3), copy("b", 2), copy("c", 1)], [copy("b", 2)]])
    assert names(union.doubtful_among_first(2)) == ["a"]
    assert names(union.doubtful_among_first(None)) == ["a", "c"]


def test_what_is_gone_makes_room_for_the_next() -> None:
    union = union_of([[copy("a", 3), copy("b", 2), copy("c", 1)], [copy("b", 2)]]).without({"a"})
    assert names(union.found) == ["b", "c"]
    assert names(union.doubtful_among_first(2)) == ["c"]


def test_settled_chunk_is_not_looked_at_again() -> None:
    union = union_of([[copy("a", 3)], []]).settled({"a"})
    assert names(union.found) == ["a"]
    assert union.doubtful_among_first(None) == []
