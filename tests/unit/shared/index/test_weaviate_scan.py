"""Pages of a walk through a class whose replicas differ."""

import pytest
from weaviate.proto.v1 import search_get_pb2

from services.shared.index import weaviate_scan
from services.shared.index.weaviate_requests import Copy
from services.shared.index.weaviate_scan import next_page


def copies_of(ids: str) -> list[Copy]:
    """A copy for each letter, whose object has that letter as its id."""
    return [
        Copy(f"chunk-{id_}", 0.0, 0, search_get_pb2.SearchResult(metadata=search_get_pb2.MetadataResult(id=id_)))
        for id_ in ids
    ]


def letters(page: list[Copy]) -> str:
    return "".join(sorted(copy.object_id for copy in page))


@pytest.fixture(autouse=True)
def three_a_page(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(weaviate_scan, "PAGE", 3)


def test_full_page_of_one_replica_goes_on_after_its_last() -> None:
    page, after = next_page([copies_of("abc")])
    assert (letters(page), after) == ("abc", "c")


def test_page_that_is_not_full_is_the_last() -> None:
    page, after = next_page([copies_of("ab")])
    assert (letters(page), after) == ("ab", None)


def test_page_ends_where_the_first_full_answer_ends() -> None:
    # The first replica lacks b, so its page reaches on to d, about which the second has not told yet.
    page, after = next_page([copies_of("acd"), copies_of("abc")])
    assert (letters(page), after) == ("abc", "c")


def test_replica_that_has_less_loses_nothing_of_the_other() -> None:
    page, after = next_page([copies_of("a"), copies_of("bcd")])
    assert (letters(page), after) == ("abcd", "d")


def test_nothing_is_the_end() -> None:
    assert next_page([[], []]) == ([], None)
