from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.answer.domain.context import Source, pack_context
from services.answer.domain.found import Hit
from tests.fakes.answer_values import hit, source

BODY = "One sentence here. Two sentences here. Three of them now. And a fourth one at last."


def chunk(number: int, start: int, end: int, **fields: Any) -> Hit:
    return hit(number, BODY[start:end], start=start, **fields)


def pack(*hits: Hit, same_field: str = "", max_tokens: int = 1000) -> list[Source]:
    return list(pack_context(hits, same_field=same_field, max_tokens=max_tokens))


def texts(sources: list[Source]) -> list[str]:
    return [source.text for source in sources]


def test_sources_are_numbered_from_one_best_first() -> None:
    sources = pack(hit(5, "best", document_id="a"), hit(1, "next", document_id="b"))
    assert [(source.number, source.text) for source in sources] == [(1, "best"), (2, "next")]


def test_nothing_found_gives_no_source() -> None:
    assert pack(same_field="unit") == []


def test_neighbours_become_one_source_without_repeating_their_overlap() -> None:
    (merged,) = pack(chunk(1, 10, 40, pages=(4,)), chunk(0, 0, 18, pages=(3,)), chunk(2, 38, 58, pages=(4, 5)))
    assert merged.text == BODY[0:58]
    assert (merged.start, merged.end) == (0, 58)
    assert merged.chunk_ids == ("c0", "c1", "c2")
    assert merged.pages == (3, 4, 5)


@pytest.mark.parametrize(
    ("start", "text"),
    [
        (18, "One sentence here. Two sentences"),
        (19, "One sentence here. Two sentences"),
        (23, "One sentence here.\n\nsentences"),
    ],
)
def test_white_space_stands_for_what_lies_between_two_chunks(start: int, text: str) -> None:
    assert texts(pack(chunk(0, 0, 18), chunk(1, start, 32))) == [text]


def test_a_merged_source_stands_where_its_best_hit_stood() -> None:
    sources = pack(chunk(1, 19, 38), hit(0, "other", document_id="e"), chunk(0, 0, 18))
    assert texts(sources) == [BODY[0:38], "other"]


def test_chunks_that_do_not_follow_each_other_stay_apart() -> None:
    assert len(pack(chunk(0, 0, 18), chunk(2, 39, 57))) == 2
    assert len(pack(hit(0, document_id="a"), hit(1, document_id="b"))) == 2


def test_neighbours_that_say_different_things_where_they_overlap_stay_apart() -> None:
    assert len(pack(chunk(0, 0, 18), hit(1, "XXXX and more", start=14))) == 2


def test_merged_sections_keep_the_headings_that_they_share() -> None:
    (merged,) = pack(chunk(0, 0, 18, heading_path=("A", "B")), chunk(1, 19, 38, heading_path=("A", "C")))
    assert merged.heading_path == ("A",)


def test_a_source_has_no_page_of_another_document() -> None:
    sources = pack(hit(0, document_id="a", pages=(9,)), hit(0, chunk_id="x", document_id="b"))
    assert [source.pages for source in sources] == [(9,), ()]


def test_hits_are_taken_whole_until_one_does_not_fit() -> None:
    hits = [
        hit(number, f"text {number}", document_id=f"d{number}", tokens=tokens)
        for number, tokens in enumerate((40, 70, 5))
    ]
    assert texts(pack(*hits, max_tokens=100)) == ["text 0"]
    assert texts(pack(*hits, max_tokens=110)) == ["text 0", "text 1"]


def test_the_best_hit_is_taken_even_when_it_is_over_the_budget() -> None:
    assert texts(pack(hit(0, "long", tokens=900), hit(7, "short", tokens=1), max_tokens=100)) == ["long"]


def test_the_best_hit_decides_the_value_that_all_share() -> None:
    hits = [
        hit(0, "unit 2", document_id="a", metadata={"unit": "2"}),
        hit(0, "unit 3", document_id="b", chunk_id="b0", metadata={"unit": "3"}),
        hit(0, "no unit", document_id="c", chunk_id="n0"),
        hit(0, "unit 2 too", document_id="e", chunk_id="e0", metadata={"unit": "2"}),
    ]
    assert texts(pack(*hits, same_field="unit")) == ["unit 2", "unit 2 too"]
    assert texts(pack(*reversed(hits[:3]), same_field="unit")) == ["no unit"]
    assert len(pack(*hits)) == 4


def test_the_heading_names_the_title_and_the_headings() -> None:
    assert source(title="Guide", heading_path=("Start", "Install")).heading == "Guide > Start > Install"
    assert source().heading == ""


@given(st.permutations(range(6)), st.integers(10, 100))
def test_packing_loses_and_repeats_no_chunk_that_fits(order: list[int], max_tokens: int) -> None:
    hits = [hit(number, document_id="ab"[number // 3]) for number in order]
    packed = pack(*hits, max_tokens=max_tokens)
    chunk_ids = [chunk_id for packed_source in packed for chunk_id in packed_source.chunk_ids]
    assert sorted(chunk_ids) == sorted(one.chunk_id for one in hits[: max(1, max_tokens // 10)])
    assert [packed_source.number for packed_source in packed] == list(range(1, len(packed) + 1))
