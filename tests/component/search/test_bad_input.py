"""What callers get wrong: refused by its field, or answered rightly; never UNKNOWN, INTERNAL or everything there is."""

from collections.abc import AsyncIterator
from typing import Any

import grpc
import pytest

from plumbline.search.v1 import filter_pb2
from plumbline.search.v1 import search_pb2 as pb
from tests.component.search.searching import COLLECTION, Searching, a_request, only, refusal, searching

INVALID = grpc.StatusCode.INVALID_ARGUMENT
HYBRID, KEYWORD, VECTOR = pb.MODE_HYBRID, pb.MODE_KEYWORD, pb.MODE_VECTOR
SEARCH = "/plumbline.search.v1.SearchService/Search"


@pytest.fixture
async def service() -> AsyncIterator[Searching]:
    async with searching() as running:
        yield running


def among(count: int) -> filter_pb2.Filter:
    """`year in (0, 1, ...)`, `count` values."""
    values = [filter_pb2.Value(integer=number) for number in range(2021, 2021 + count)]
    return filter_pb2.Filter(
        comparison=filter_pb2.Comparison(field="year", op=filter_pb2.OPERATOR_IN, values=values)
    )  # fmt: skip


def nested(depth: int, field: str) -> bytes:
    """The bytes of a request whose filter is `depth` times `all` or `not`; no library would write more than 100."""
    filter_ = only("kind", "paper").SerializeToString()
    number = filter_pb2.Filter.DESCRIPTOR.fields_by_name[field].number
    for _ in range(depth):
        filter_ = part(number, part(1, filter_) if field == "all" else filter_)
    return a_request().SerializeToString() + part(pb.SearchRequest.FILTER_FIELD_NUMBER, filter_)


def part(number: int, content: bytes) -> bytes:
    """A field of this number that holds a message, as Protocol Buffers write it."""
    return varint(number << 3 | 2) + varint(len(content)) + content


def varint(value: int) -> bytes:
    more, low = value >> 7, value & 127
    return bytes([low | 128]) + varint(more) if more else bytes([low])


@pytest.mark.parametrize("mode", [HYBRID, KEYWORD, VECTOR])
@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"query": ""}, "query"),
        ({"query": "\t \n"}, "query"),
        ({"query": "x" * 10_001}, "query"),
        ({"limit": 0}, "limit"),
        ({"limit": 1_001}, "limit"),
        ({"limit": 10_001}, "limit"),
        ({"offset": 101}, "offset"),
        ({"offset": 2**32 - 1}, "offset"),
        ({"filter": among(1_001)}, "filter.value"),
        ({"filter": among(5_000)}, "filter.value"),
        ({"cursor": "x"}, "cursor"),
        ({"cursor": "QUJD" * 100}, "cursor"),
        ({"cursor": "ü"}, "cursor"),
        ({"collection": ""}, "collection"),
    ],
)
async def test_what_cannot_be_asked_is_refused_by_its_field_in_every_mode(
    service: Searching, mode: int, changes: dict[str, Any], field: str
) -> None:
    assert await service.refused(**{"mode": mode, **changes}) == (INVALID, field)
    assert not {"keyword", "nearest"} & set(service.index.calls)


async def test_a_thousand_values_of_one_field_are_answered(service: Searching) -> None:
    assert await service.found(filter=among(1_000)) == ["solar"]


@pytest.mark.parametrize("mode", [HYBRID, KEYWORD])
async def test_a_query_of_100_words_finds_what_holds_one_of_its_first_words(service: Searching, mode: int) -> None:
    words = " ".join(["turbine", *(f"word{number}" for number in range(99))])
    assert (await service.found(words, mode=mode))[0] == "wind"


@pytest.mark.parametrize("field", ["all", "not"])
@pytest.mark.parametrize("depth", [16, 50, 99, 150, 1_000])
async def test_a_filter_nested_too_deep_is_refused_however_deep(service: Searching, depth: int, field: str) -> None:
    with pytest.raises(grpc.aio.AioRpcError) as error:
        await service.channel.unary_unary(SEARCH)(nested(depth, field), timeout=10)
    code, where = refusal(error.value)
    # Beyond 100 messages, of which `all` takes two a level, nobody can tell the field any more.
    assert (code, where[:6]) == (INVALID, "filter" if depth * (2 if field == "all" else 1) < 98 else "")
    assert "nested" in (error.value.details() or "")
    assert service.index.calls == ["generations"]


async def test_a_filter_of_the_deepest_that_is_allowed_is_answered(service: Searching) -> None:
    reply = await service.channel.unary_unary(SEARCH)(nested(15, "not"), timeout=10)
    # An odd number of `not` around "is a paper".
    assert {hit.document_id for hit in pb.SearchResponse.FromString(reply).hits} == {"bread", "toil"}


@pytest.mark.parametrize("generation_id", ["unknown", "../g1", "g1\0", "x" * 10_000])
async def test_a_generation_that_is_not_there_is_not_found(service: Searching, generation_id: str) -> None:
    assert await service.refused(generation_id=generation_id) == (grpc.StatusCode.NOT_FOUND, "generation_id")


@pytest.mark.parametrize("collection", ["unknown", "C", "c ", "../c"])
async def test_a_collection_that_is_not_there_is_not_found(service: Searching, collection: str) -> None:
    assert await service.refused(collection=collection) == (grpc.StatusCode.NOT_FOUND, "collection")


@pytest.mark.parametrize("mode", [HYBRID, VECTOR])
async def test_a_page_that_begins_beyond_what_was_found_is_empty(service: Searching, mode: int) -> None:
    response = await service.search(mode=mode, offset=50)
    assert (len(response.hits), response.window, response.next) == (0, len(COLLECTION), "")
